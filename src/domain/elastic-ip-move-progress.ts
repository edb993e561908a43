import type { Moment } from './change.ts'
import type { ElasticIp } from './elastic-ip.ts'
import { addressOf, type MoveFacts } from './elastic-ip-move.ts'
import type { MoveFinding } from './elastic-ip-move-findings.ts'
import type { Observation } from './observation.ts'

/** The facts of a move that tell how it gets on. `from` is undefined when the account showed no server at the request. */
export type Move = Pick<MoveFacts, 'address' | 'elasticIpId' | 'from' | 'to'>

/**
 * What a read of the Elastic IP means for a move. `active` is the status before *and* after a move, so only `active` on the
 * target is done (interface specification, "States and transitions"; how `moving` ends is not shown there, nor which server reads show
 * while it moves). Sets of values are open: an unknown status keeps the request under observation and settles nothing.
 */
export function observeMove(move: Move, seen: ElasticIp | 'gone', moment: Moment): Observation {
  const address = addressOf(move)
  if (seen === 'gone') return failed({ code: 'elastic-ip-gone', address })
  if (seen.status === 'error') return failed({ code: 'status-error', address })
  if (seen.status === 'releasing') return failed({ code: 'being-released', address })
  if (seen.status === 'moving') return observeMoving(move, seen, moment)
  // Null also means that the assigned server is not active: nothing can be told from it.
  if (seen.status !== 'active' || !seen.server) return unclear(seen)
  if (seen.server.id === move.to.id) return { is: 'done' }
  if (isThird(move, seen)) return moment.early ? unclear(seen) : supersededBy(seen, { isMoving: false })
  return observeUnmoved(move, seen, moment)
}

/** On its way to the target, whichever server is shown meanwhile: the old one, the target or none. A third one is another move's. */
function observeMoving(move: Move, seen: ElasticIp, moment: Moment): Observation {
  if (seen.server?.id === move.to.id) return { is: 'underway', seen: sightingOf(seen) }
  if (isThird(move, seen)) return moment.early ? unclear(seen) : supersededBy(seen, { isMoving: true })
  // Nobody waits for this move any more: only the target tells that it is this one, and not another that has begun since.
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

/** How a list of everything that is moving shows this move while it is under way. */
export function moveSightings({ elasticIpId, from, to }: Move): string[] {
  // With an unknown old server any other one may be it.
  if (!from) return [movingAnywhere(elasticIpId)]
  return [to.id, from.id, undefined].map((serverId) => movingOn(elasticIpId, serverId))
}

/** Everything that a list shows as moving, in the terms of `moveSightings`; whatever else the list has, though it was not asked for. */
export function sightingsIn(list: ElasticIp[]): Set<string> {
  const moving = list.filter(({ status }) => status === 'moving')
  return new Set(moving.flatMap(({ id, server }) => [movingAnywhere(id), movingOn(id, server?.id)]))
}

function movingAnywhere(elasticIpId: string): string {
  return elasticIpId
}

/** With a line break between, which is in no id: no other pair of ids comes to the same. */
function movingOn(elasticIpId: string, serverId: string | undefined): string {
  return `${elasticIpId}\n${serverId ?? ''}`
}
