import type { MoveFinding } from './elastic-ip-move-findings.ts'
import { hasInvisible, withoutInvisible } from './invisible.ts'
import type { Server } from './server.ts'

const mostListed = 3

/** What approvers should know of the target of a move. None of it stands against the move. A status that is not told gives no warning. */
export function targetWarnings(target: Server): MoveFinding[] {
  const server = nameOf(target)
  return [
    ...(target.status !== undefined && target.status !== 'on' ? [{ code: 'server-not-on' as const, server, status: target.status }] : []),
    ...(target.locked ? [{ code: 'server-locked' as const, server }] : []),
    ...(hasInvisible(server) ? [{ code: 'hidden-characters' as const, serverId: target.id }] : []),
  ]
}

/** Tells of other servers that look the same by name. `listed` are servers of that name, or more. */
export function namesakeWarnings(target: Server, listed: Server[]): MoveFinding[] {
  const others = listed.filter((other) => other.id !== target.id && looksLike(other, target)).map(({ id }) => id)
  if (others.length === 0) return []
  const [server, serverId] = [nameOf(target), target.id]
  return [{ code: 'same-name', server, serverId, others: others.slice(0, mostListed), count: others.length }]
}

function looksLike(a: Server, b: Server): boolean {
  return shown(nameOf(a)) === shown(nameOf(b))
}

function shown(name: string): string {
  return withoutInvisible(name).toLowerCase()
}

function nameOf({ id, hostname, label }: Server): string {
  return hostname ?? label ?? id
}
