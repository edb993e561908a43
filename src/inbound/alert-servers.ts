import { leftOutOf, throwIfOld } from '../account/resource.ts'
import type { App } from '../app.ts'
import { type Server, sameProject, sameSite } from '../domain/account.ts'
import { ListCutError } from '../domain/errors.ts'
import { type AlertRoute, type Labels, targetIn } from '../domain/policy.ts'
import { findServers } from '../kit/things.ts'
import { nameIn } from './alert-payload.ts'

/** Why the servers of an alert allow no request. `named`: the name in the alert or in the policy. */
export type ServerProblem =
  | { is: 'no-name'; label: string }
  | { is: 'no-server'; named: string }
  | { is: 'several-servers'; named: string; ids: string[] }
  | { is: 'no-target'; server: FoundServer; site: string | undefined }
  | { is: 'no-target-server'; server: FoundServer; named: string; candidates: number }

/** A server as it is shown. */
interface FoundServer {
  id: string
  name: string
}

/** The server that an alert names, and the one that takes over its Elastic IPs. */
export interface EvacuationServers {
  server: FoundServer
  target: FoundServer
}

type FoundServers = ({ is: 'found' } & EvacuationServers) | ServerProblem

/**
 * Finds the server that an alert names, and the one that takes over. Names are compared exactly, with the hostname, the id and the primary IPv4
 * address. A server that the account no longer shows is found if Lockkeeper saw it before. Throws as the reads do.
 */
export async function findAlerted(app: App, route: AlertRoute, labels: Labels): Promise<FoundServers> {
  const named = nameIn(route, labels)
  if (named === undefined) return { is: 'no-name', label: route.server }
  const [shown, ...namesakes] = await serversNamed(app, named)
  const candidates = shown ? [shown, ...namesakes].map(asFound) : await seenServers(app, named)
  const [server, ...others] = candidates
  if (!server) return { is: 'no-server', named }
  if (others.length > 0) return { is: 'several-servers', named, ids: candidates.map(({ id }) => id) }
  const wanted = targetIn(route, shown?.site)
  if (wanted === undefined) return { is: 'no-target', server, site: shown?.site?.slug }
  const targets = (await serversNamed(app, wanted)).filter((target) => target.id !== server.id && canTakeOver(shown, target))
  const [target] = targets
  if (!target || targets.length > 1) return { is: 'no-target-server', server, named: wanted, candidates: targets.length }
  return { is: 'found', server, target: asFound(target) }
}

/** Reads the shared list. Both servers are checked again before a request is made. */
async function serversNamed({ account, lists }: App, named: string): Promise<Server[]> {
  try {
    const all = await lists.servers()
    const byId = all.filter(({ id }) => id === named)
    if (byId.length > 0) return byId
    const byName = all.filter(({ hostname, primaryIpv4 }) => hostname?.toLowerCase() === named.toLowerCase() || primaryIpv4 === named)
    if (byName.length === 0) throwIfOld(leftOutOf(all))
    return byName
  } catch (error) {
    // The list of a very large account is cut off. Hostnames and ids can be read without it.
    if (error instanceof ListCutError) return findServers({ account }, named)
    throw error
  }
}

/** Finds a server that the account no longer shows, by what Lockkeeper saw. */
async function seenServers({ assignments }: App, named: string): Promise<FoundServer[]> {
  const found = await assignments.find(({ serverId, serverName }) => serverId === named || serverName.toLowerCase() === named.toLowerCase())
  return [...new Map(found.map(({ serverId, serverName }) => [serverId, serverName]))].map(([id, name]) => ({ id, name }))
}

/** Addresses move only within one project and one site. The preflight check decides if these are unknown. */
function canTakeOver(source: Server | undefined, target: Server): boolean {
  if (sameProject(source?.project, target.project) === false) return false
  return sameSite({ location: undefined, assigned: source?.site, target: target.site }) !== false
}

function asFound({ id, hostname, label }: Server): FoundServer {
  return { id, name: hostname ?? label ?? id }
}
