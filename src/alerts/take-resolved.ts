import { type AlertRoute, routeFor } from '../domain/policy/alert-route.ts'
import type { ResolveAlert } from '../requests/lifecycle/resolve-alert.ts'
import type { AlertClaim, AlertStates } from './alert-states.ts'
import { untilFree } from './claiming.ts'
import { requestIdOf } from './episode.ts'
import type { FindNotice } from './messages/post-once.ts'
import type { NoticePlace } from './notice-place.ts'
import { TryLater } from './outcome.ts'
import { nameIn } from './payload/name-in.ts'
import type { Alert } from './payload/payload.ts'

interface TakeResolvedParts {
  states: AlertStates
  routes: AlertRoute[]
  resolveAlert: ResolveAlert
  findNotice: FindNotice
  waitMs?: number
}

/** A resolved alert that led to no request. It is still claimed, and the thread of its message has to say that it resolved. */
export interface Explained {
  alert: Alert
  claim: AlertClaim
  serverId: string | undefined
  /** The name of the server in the alert. */
  name: string | undefined
  notice: NoticePlace
}

/** What became of a resolved alert. `unknown`: it had led to nothing. */
export type TakenResolved = { is: 'resolved' | 'unknown' } | { is: 'explained'; explained: Explained }

/**
 * Creates the function that ends the request of a resolved alert. A request stays while another alert about the same server fires, because
 * the server is not well yet. It is safe to repeat.
 */
export function createTakeResolved({ states, routes, resolveAlert, findNotice, waitMs }: TakeResolvedParts) {
  return async function takeResolved(alert: Alert, signal: AbortSignal): Promise<TakenResolved> {
    const claimed = await untilFree(() => states.claim(alert.key, alert), { waitMs, signal })
    if (claimed.is !== 'claimed') return { is: 'unknown' }
    const { claim } = claimed
    const { serverId, isRecorded, notice } = await states.knownOf(claim)
    try {
      const left = serverId === undefined ? undefined : await untilFree(() => states.leaveServer(claim, serverId), { waitMs, signal })
      if (left?.is === 'lost') throw new TryLater('the claim of the alert ran out')
      // Somebody may have changed the stored id to that of a person's request. The id that is computed from the episode can only be an
      // alert's.
      if (left?.is === 'last') await resolveAlert(requestIdOf(left.episode), `resolved:${left.episode}`)
      const route = routeFor(routes, alert.labels)
      // A process that died may have posted the notice without recording it.
      const isLost = claim.again && !isRecorded && route !== undefined
      const explainedIn = isLost ? await findNotice(route.channelId, alert) : notice
      if (explainedIn)
        return { is: 'explained', explained: { alert, claim, serverId, name: route && nameIn(route, alert.labels), notice: explainedIn } }
      await states.settle(claim, { outcome: 'resolved', startsAt: alert.startsAt, serverId })
      return { is: 'resolved' }
    } catch (error) {
      await states.free(claim, serverId).catch(() => undefined)
      throw error
    }
  }
}
export type TakeResolved = ReturnType<typeof createTakeResolved>
