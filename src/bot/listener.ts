import type { AcknowledgedPayload } from '../ops/pages/objectives.ts'
import { createDeliveries } from '../requests/interactions/deliveries.ts'
import type { OpenForm } from '../slack/commands/forms/form.ts'
import type { InteractionHandlers } from '../slack/commands/handlers.ts'
import { type ListenOptions, listen } from '../slack/listen/listen.ts'
import { createBoltApp } from '../slack/receive/app.ts'
import type { Identity } from '../slack/web-api/identity.ts'
import type { Foundation } from './foundation/foundation.ts'

interface ListenerNeeds {
  handlers: InteractionHandlers
  openForm: OpenForm
  onReceived: NonNullable<ListenOptions['onReceived']>
  /** Waits for the Home tabs that are being published. */
  stopHome: () => Promise<void>
}

/** What the metrics call each kind of payload. Kinds come from outside, so every other one is `other`. */
const payloads = new Map<string, AcknowledgedPayload>([
  ['command', 'command'],
  ['block_actions', 'click'],
  ['view_submission', 'form'],
  ['shortcut', 'shortcut'],
  ['message_action', 'shortcut'],
  ['block_suggestion', 'options'],
  ['app_home_opened', 'home'],
])

/** Returns the function that creates the Slack listener. It runs after the start has read the bot's identity from Slack. */
export function createListenerFactory({ config, telemetry, redis, clients, operators, requests }: Foundation, needs: ListenerNeeds) {
  const { errorReports, metrics, onSlackCall } = telemetry
  const { logger, messenger, respond, naming } = clients.slack
  const { access } = requests
  const onUnhandled = errorReports.unhandled
  const onListenerError = errorReports.of('slack')
  const isFirstDelivery = createDeliveries({ redis: redis.prompt, keys: redis.keys })

  return function createListener(identity: Identity) {
    const { app, start } = createBoltApp(config.slack, identity, logger, {
      onCall: onSlackCall,
      respond,
      onUnhandled,
      onAcknowledged: (kind, ms) => metrics.acknowledged(payloads.get(kind) ?? 'other', ms),
    })
    const { stopHome, ...handling } = needs
    const listening = listen(app, {
      ...handling,
      command: config.slack.command,
      authorize: async (origin, what) => void (await access.authorize(origin, { to: 'read', what })),
      messenger,
      respond,
      withNames: naming.inWords,
      onUnhandled,
      isFirstDelivery,
      onError: (error, context) => {
        errorReports.shownToPerson(error, context)
        operators.onShownError(error)
      },
    })
    app.error(async (error) => onListenerError(error))

    async function stop(): Promise<void> {
      await app.stop()
      await listening.settle()
      await stopHome()
    }

    return { start, stop }
  }
}
