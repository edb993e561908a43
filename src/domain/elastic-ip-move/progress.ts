import type { ElasticIp } from '../account/elastic-ip.ts'
import type { Moment, Observation } from '../change/observation.ts'
import { addressOf, type MoveFacts } from './elastic-ip-move.ts'
import type { MoveFinding } from './findings.ts'

/** The facts of a move that a read is compared with. `from` is undefined if the account showed no server at the request. */
export type Move = Pick<MoveFacts, 'address' | 'elasticIpId' | 'from' | 'to'>

/**
 * Returns what a read of the Elastic IP means for a move (interface specification, "States and transitions"). `active` is the status before
 * *and* after a move, so only `active` on the target means done. The specification shows neither how `moving` ends nor which server a read
 * shows meanwhile. The set of statuses is open: with an unknown status the request stays tracked.
 */
export function observeMove(move: Move, seen: ElasticIp | 'gone', moment: Moment): Observation {
  const address = addressOf(move)
  if (seen === 'gone') return failed({ code: 'elastic-ip-gone', address })
  if (seen.status === 'error') return failed({ code: 'status-error', address })
  if (seen.status === 'releasing') return failed({ code: 'being-released', address })
  if (seen.status === 'moving') return observeMoving(move, seen, moment)
  // An assigned server that is not active is shown as null, too, so a missing server proves nothing.
  if (seen.status !== 'active' || !seen.server) return unclear(seen)
  if (seen.server.id === move.to.id) return { is: 'done' }
  if (isThird(move, seen)) return moment.early ? unclear(seen) : supersededBy(seen, { isMoving: false })
  return observeUnmoved(move, seen, moment)
}

/** While an Elastic IP moves, a read may show the old server, the target or none. A third server belongs to another move. */
function observeMoving(move: Move, seen: ElasticIp, moment: Moment): Observation {
  if (seen.server?.id === move.to.id) return { is: 'underway', seen: sightingOf(seen) }
  if (isThird(move, seen)) return moment.early ? unclear(seen) : supersededBy(seen, { isMoving: true })
  // This move was already reported as ended. Only its target proves that the read is about this move and not about a newer one.
  return moment.phase === 'ended' ? unclear(seen) : { is: 'underway', seen: sightingOf(seen) }
}

function isThird(move: Move, { server }: ElasticIp): boolean {
  return server !== undefined && move.from !== undefined && server.id !== move.from.id && server.id !== move.to.id
}

function observeUnmoved(move: Move, seen: ElasticIp, moment: Moment): Observation {
  if (moment.early) return unclear(seen)
  const address = addressOf(move)
  const server = move.from?.name ?? seen.server?.hostname ?? seen.server?.id ?? 'the server it was on'
  if (moment.phase === 'accepted') return { ...failed({ code: 'back-on-old-server', address, server }), mayStillHappen: true }
  return { is: 'not-started', cause: { code: 'still-on-old-server', address, server } satisfies MoveFinding }
}

function failed(cause: MoveFinding): Extract<Observation, { is: 'failed' }> {
  return { is: 'failed', cause }
}

function supersededBy(seen: ElasticIp, { isMoving }: { isMoving: boolean }): Observation {
  const server = seen.server?.hostname ?? seen.server?.id ?? 'another server'
  return { is: 'superseded', cause: { code: 'moved-by-others', address: seen.address, server, isMoving } satisfies MoveFinding }
}

function unclear(seen: ElasticIp): Observation {
  return { is: 'unclear', seen: sightingOf(seen) }
}

function sightingOf({ status, server }: ElasticIp) {
  return { status, server: server ? (server.hostname ?? server.id) : null }
}
