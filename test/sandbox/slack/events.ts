import { setTimeout as wait } from 'node:timers/promises'
import type { Directory } from './directory.ts'
import type { Json } from './json.ts'
import type { Payloads } from './payloads.ts'
import type { Delivery, HomeTab } from './slack.ts'
import type { State } from './state.ts'
import type { Retry, Transport } from './transport.ts'
import type { ViewStore } from './view-store.ts'

/** At once, after a minute, after five (docs.slack.dev/apis/events-api#retries). */
export const usualRetryMs = [0, 60_000, 300_000]

export interface EventOptions {
  state: State
  directory: Directory
  views: ViewStore
  payloads: Payloads
  transport: Transport
  homeTab: boolean
  retryMs: number[]
  delivered: (delivery: Delivery) => void
}

const reasons = { timeout: 'http_timeout', refused: 'http_error', unreachable: 'connection_failed' } as const

function retryReason({ outcome, noRetry }: Delivery): Retry['reason'] | undefined {
  return noRetry || outcome === 'acknowledged' || outcome === 'not-sent' ? undefined : reasons[outcome]
}

/** Tells the bot what has happened, and tells it again when it does not acknowledge that. */
export function createEvents(options: EventOptions) {
  const { state, directory, views, payloads, transport } = options
  const closing = new AbortController()

  async function attempt(payload: Json, retry?: Retry): Promise<Delivery> {
    const sent = await transport.send('event', transport.eventRequest(payload, retry), payload)
    const delivery: Delivery = { kind: 'event', payload, ...sent }
    options.delivered(delivery)
    return delivery
  }

  async function repeat(payload: Json, first: Delivery): Promise<void> {
    let reason = retryReason(first)
    for (const [index, delayMs] of options.retryMs.entries()) {
      if (reason === undefined) return
      await wait(delayMs, undefined, { signal: closing.signal, ref: false })
      reason = retryReason(await attempt(payload, { attempt: index + 1, reason }))
    }
  }

  return {
    /** Somebody looks at the app. Resolves after the first try. */
    async appHomeOpened(userId: string, tab: HomeTab): Promise<Delivery> {
      const person = directory.person(userId)
      if (person.deleted) throw new Error(`${person.name} is deactivated and cannot do anything.`)
      if (tab === 'home' && !options.homeTab) throw new Error(`${directory.bot.name} has no Home tab.`)
      const home = views.homeOf(userId)
      const payload = payloads.appHomeOpened({
        userId,
        tab,
        eventId: state.id('Ev'),
        eventTs: state.stamp(),
        view: home && views.toSlack(home),
      })
      const first = await attempt(payload)
      // Only closing the stand-in ends the wait between two tries.
      repeat(payload, first).catch(() => {})
      return first
    },

    close: (): void => closing.abort(),
  }
}
export type Events = ReturnType<typeof createEvents>
