import { findNamesakes, looksSame } from '../account/namesakes.ts'
import { projectName } from '../account/place.ts'
import type { Server } from '../account/server.ts'
import { hasInvisible } from '../text/invisible.ts'
import type { MoveFacts } from './elastic-ip-move.ts'
import type { MoveFinding } from './findings.ts'

/** Whether the account shows that a server is off, deploying or the like. A status that is not shown counts as on. */
export function isNotOn<Shown extends Pick<Server, 'status'>>(server: Shown): server is Shown & { status: string } {
  return server.status !== undefined && server.status !== 'on'
}

/** Lists what approvers should know about the target of a move. None of it prevents the move. */
export function targetWarnings(target: Server): MoveFinding[] {
  const server = nameOf(target)
  return [
    ...(isNotOn(target) ? [{ code: 'server-not-on' as const, server, status: target.status }] : []),
    ...(target.deletedAt === undefined ? [] : [{ code: 'server-deletion-scheduled' as const, server, at: target.deletedAt }]),
    ...(target.locked ? [{ code: 'server-locked' as const, server }] : []),
    ...(target.label !== undefined && target.label !== server ? [{ code: 'server-label' as const, server, label: target.label }] : []),
    ...(hasInvisible(server) ? [{ code: 'hidden-characters' as const, serverId: target.id }] : []),
  ]
}

/**
 * Lists what people should know after a move to a server that was not on when the move was sent. `now`: the server, if it could be read.
 */
export function afterMove({ to, toStatus }: Pick<MoveFacts, 'to' | 'toStatus'>, now: Server | undefined): MoveFinding[] {
  const server = to.name
  if (now) return isNotOn(now) ? [{ code: 'assigned-to-server-not-on', server, status: now.status }] : []
  return toStatus === undefined ? [] : [{ code: 'server-was-not-on', server, status: toStatus }]
}

/** Warns of other servers whose names look the same. `listed`: servers with that name, and perhaps others. */
export function namesakeWarnings(target: Server, listed: Server[]): MoveFinding[] {
  const [server, serverId] = [nameOf(target), target.id]
  const named = listed.map((other) => ({ id: other.id, name: nameOf(other) }))
  const found = findNamesakes(server, named, serverId)
  if (!found) return []
  const only = found.count === 1 ? listed.find(({ id }) => id === found.others[0]) : undefined
  const places = only && differentPlaces(only, target)
  return [{ code: 'same-name', server, serverId, ...found, ...(places ? { places } : {}) }]
}

/** Returns the places of two servers, if both are known and people can tell one from the other. */
function differentPlaces(otherServer: Server, target: Server) {
  const [other, own] = [placeOf(otherServer), placeOf(target)]
  if (!other || !own) return undefined
  return looksSame(other.site, own.site) && looksSame(other.project, own.project) ? undefined : { other, own }
}

function placeOf({ site, project }: Server): { site: string; project: string } | undefined {
  return site?.slug && project ? { site: site.slug, project: projectName(project) } : undefined
}

function nameOf({ id, hostname, label }: Server): string {
  return hostname ?? label ?? id
}
