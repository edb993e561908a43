import { createDeliveries } from '../requests/interactions/deliveries.ts'
import type { OpenForm } from '../slack/commands/form.ts'
import type { InteractionHandlers } from '../slack/commands/handlers.ts'
import { type ListenOptions, listen } from '../slack/listen/listen.ts'
import { createBoltApp } from '../slack/receive/app.ts'
import type { Identity } from '../slack/web-api/identity.ts'
import type { Parts } from './parts.ts'

interface ListenerNeeds {
  handlers: InteractionHandlers
  openForm: OpenForm
  onReceived: NonNullable<ListenOptions['onReceived']>
}

/** Returns a function that creates what listens to Slack. It needs the bot's identity, which only Slack can tell. */
export function createListenerFactory({ config, instruments, redis, clients, requests }: Parts, needs: ListenerNeeds) {
  const { errorReports, onSlackCall } = instruments
  const { logger, messenger, respond } = clients.slack
  const { access } = requests
  const onUnhandled = errorReports.unhandled
  const isFirstDelivery = createDeliveries({ redis: redis.prompt, keys: redis.keys })

  return function createListener(identity: Identity) {
    const { app, start } = createBoltApp(config.slack, identity, logger, { onCall: onSlackCall, respond, onUnhandled })
    const listening = listen(app, {
      ...needs,
      authorize: async (origin, what) => void (await access.authorize(origin, { to: 'read', what })),
      messenger,
      respond,
      onUnhandled,
      isFirstDelivery,
      onError: errorReports.shownToPerson,
    })
    app.error(async (error) => errorReports.each('slack')(error))

    async function stop(): Promise<void> {
      await app.stop()
      await listening.settle()
    }

    return { start, stop }
  }
}
