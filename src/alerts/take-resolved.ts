import { alertsRequester } from '../domain/origin.ts'
import type { Request } from '../domain/request.ts'
import { requestIdFor } from '../requests/lifecycle/submit.ts'
import type { CommonFinding } from '../requests/messages/causes.ts'
import type { Show } from '../requests/outbox/show.ts'
import type { Store } from '../requests/store/store.ts'
import type { AlertStates } from './alert-states.ts'
import { untilFree } from './claiming.ts'
import { TryLater } from './outcome.ts'
import type { Alert } from './payload.ts'
import { deliveryKeyOf } from './take-firing.ts'

/** A request can be approved, or sent, at the same moment. Then its state is read again. */
const mostTries = 5

interface TakeResolvedParts {
  states: AlertStates
  store: Pick<Store, 'find' | 'take'>
  show: Show
  onError: (error: unknown) => void
  waitMs?: number
}

/**
 * Creates the function that ends what a resolved alert has requested: it withdraws an undecided request, and says in the thread of one that is
 * under way that the alert resolved. A request stays while another alert about the same server fires, because the server is not well yet. It is
 * safe to repeat. Returns `unknown` if nothing had come of the alert.
 */
export function createTakeResolved({ states, store, show, onError, waitMs }: TakeResolvedParts) {
  return async function takeResolved(alert: Alert, signal: AbortSignal): Promise<'resolved' | 'unknown'> {
    const claimed = await untilFree(() => states.claim(alert.key, alert), { waitMs, signal })
    if (claimed.is !== 'claimed') return 'unknown'
    const { claim } = claimed
    const settled = { outcome: 'resolved', startsAt: alert.startsAt } as const
    const serverId = await states.serverOf(claim)
    try {
      const left = serverId === undefined ? undefined : await untilFree(() => states.leaveServer(claim, serverId), { waitMs, signal })
      if (left?.is === 'lost') throw new TryLater('the claim of the alert ran out')
      if (serverId !== undefined && left?.is === 'last') {
        const { requestId, episode } = left
        await end(requestId ?? requestIdFor(deliveryKeyOf(episode)), episode)
        await states.settle(claim, { ...settled, serverId })
      } else await states.settle(claim, settled)
      return 'resolved'
    } catch (error) {
      await states.free(claim, serverId).catch(() => undefined)
      throw error
    }
  }

  async function end(requestId: string, episode: string): Promise<void> {
    for (let attempt = 0; attempt < mostTries; attempt += 1) {
      const request = await store.find(requestId)
      const step = request && stepFor(request)
      if (!request || !step) return
      const set = step === 'withdraw-resolved' ? { causes: [{ code: 'alert-resolved' } satisfies CommonFinding] } : {}
      // A repeat of the same delivery takes the step once.
      const taken = await store.take(request, step, { set, audit: { by: alertsRequester } }, `resolved:${episode}`)
      if (taken.outcome === 'won') return void (await show(requestId).catch(onError))
    }
    throw new TryLater('the request kept changing')
  }
}
export type TakeResolved = ReturnType<typeof createTakeResolved>

function stepFor({ state }: Request): 'withdraw-resolved' | 'note-resolved' | undefined {
  if (state === 'waiting') return 'withdraw-resolved'
  return state === 'approved' || state === 'starting' || state === 'tracking' ? 'note-resolved' : undefined
}
