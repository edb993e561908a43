import type { ResolveAlert } from '../requests/lifecycle/resolve-alert.ts'
import type { AlertStates } from './alert-states.ts'
import { untilFree } from './claiming.ts'
import { requestIdOf } from './episode.ts'
import { TryLater } from './outcome.ts'
import type { Alert } from './payload/payload.ts'

interface TakeResolvedParts {
  states: AlertStates
  resolveAlert: ResolveAlert
  waitMs?: number
}

/**
 * Creates the function that ends the request of a resolved alert. A request stays while another alert about the same server fires, because
 * the server is not well yet. It is safe to repeat. It returns `unknown` if the alert had led to nothing.
 */
export function createTakeResolved({ states, resolveAlert, waitMs }: TakeResolvedParts) {
  return async function takeResolved(alert: Alert, signal: AbortSignal): Promise<'resolved' | 'unknown'> {
    const claimed = await untilFree(() => states.claim(alert.key, alert), { waitMs, signal })
    if (claimed.is !== 'claimed') return 'unknown'
    const { claim } = claimed
    const settled = { outcome: 'resolved', startsAt: alert.startsAt } as const
    const serverId = await states.serverOf(claim)
    try {
      const left = serverId === undefined ? undefined : await untilFree(() => states.leaveServer(claim, serverId), { waitMs, signal })
      if (left?.is === 'lost') throw new TryLater('the claim of the alert ran out')
      // Somebody may have changed the stored id to that of a person's request. The id that is computed from the episode can only be an
      // alert's.
      if (left?.is === 'last') await resolveAlert(requestIdOf(left.episode), `resolved:${left.episode}`)
      await states.settle(claim, { ...settled, serverId })
      return 'resolved'
    } catch (error) {
      await states.free(claim, serverId).catch(() => undefined)
      throw error
    }
  }
}
export type TakeResolved = ReturnType<typeof createTakeResolved>
