import type { AccountApi } from '../../account-api/client.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import { throwIfOld } from '../../account-api/lists/cut-list.ts'
import { leftOutOf } from '../../account-api/lists/left-out.ts'
import type { SeenAssignments } from '../../domain/account/assignment.ts'
import { sameProject, sameSite } from '../../domain/account/place.ts'
import type { Server } from '../../domain/account/server.ts'
import { ListCutError } from '../../domain/errors/list-errors.ts'
import { type AlertRoute, type Labels, targetIn } from '../../domain/policy/alert-route.ts'
import { findServers } from '../../moves/find-server.ts'
import { nameIn } from '../payload/name-in.ts'

/** Why the servers of an alert allow no request. `named`: the name in the alert or in the policy. */
export type ServerProblem =
  | { is: 'no-name'; label: string }
  | { is: 'no-server'; named: string }
  | { is: 'several-servers'; named: string; ids: string[] }
  | { is: 'no-target'; server: FoundServer; site: string | undefined }
  | { is: 'no-target-server'; server: FoundServer; named: string; candidates: number }

/** A server as it is shown. */
export interface FoundServer {
  id: string
  name: string
}

/** The server that an alert names, and the one that takes over its Elastic IPs. */
export interface EvacuationServers {
  server: FoundServer
  target: FoundServer
}

type FoundServers = ({ is: 'found' } & EvacuationServers) | ServerProblem

interface FindAlertedParts {
  accountApi: Pick<AccountApi, 'servers'>
  /** The list that is shared. Both servers are checked again before a request is made. */
  copies: Pick<Inventory, 'servers'>
  seen: SeenAssignments
}

/**
 * Creates the search for the server that an alert names, and for the one that takes over. Names are compared exactly, with the hostname, the id
 * and the primary IPv4 address. A server that the account no longer shows is found if Lockkeeper saw it before. Throws as the reads do.
 */
export function createFindAlerted({ accountApi, copies, seen }: FindAlertedParts) {
  async function serversNamed(named: string): Promise<Server[]> {
    try {
      const all = await copies.servers()
      const byId = all.filter(({ id }) => id === named)
      if (byId.length > 0) return byId
      const byName = all.filter(({ hostname, primaryIpv4 }) => hostname?.toLowerCase() === named.toLowerCase() || primaryIpv4 === named)
      if (byName.length === 0) throwIfOld(leftOutOf(all))
      return byName
    } catch (error) {
      // The list of a very large account is cut off. Hostnames and ids can be read without it.
      if (error instanceof ListCutError) return findServers(accountApi, named)
      throw error
    }
  }

  /** Finds a server that the account no longer shows, by what Lockkeeper saw. */
  async function seenServers(named: string): Promise<FoundServer[]> {
    const found = await seen.find(({ serverId, serverName }) => serverId === named || serverName.toLowerCase() === named.toLowerCase())
    return [...new Map(found.map(({ serverId, serverName }) => [serverId, serverName]))].map(([id, name]) => ({ id, name }))
  }

  async function findSource(named: string): Promise<{ found: FoundServer; shown: Server | undefined } | ServerProblem> {
    const shown = await serversNamed(named)
    const candidates = shown.length > 0 ? shown.map(asFound) : await seenServers(named)
    const [only, ...others] = candidates
    if (!only) return { is: 'no-server', named }
    if (others.length > 0) return { is: 'several-servers', named, ids: candidates.map(({ id }) => id) }
    return { found: only, shown: shown[0] }
  }

  return async function findAlerted(route: AlertRoute, labels: Labels): Promise<FoundServers> {
    const named = nameIn(route, labels)
    if (named === undefined) return { is: 'no-name', label: route.server }
    const source = await findSource(named)
    if ('is' in source) return source
    const { found: server, shown } = source
    const wanted = targetIn(route, shown?.site)
    if (wanted === undefined) return { is: 'no-target', server, site: shown?.site?.slug }
    const candidates = (await serversNamed(wanted)).filter((target) => target.id !== server.id && canTakeOver(shown, target))
    const [target] = candidates
    if (!target || candidates.length > 1) return { is: 'no-target-server', server, named: wanted, candidates: candidates.length }
    return { is: 'found', server, target: asFound(target) }
  }
}
export type FindAlerted = ReturnType<typeof createFindAlerted>

/** Addresses move only within one project and one site. The preflight check decides if these are unknown. */
function canTakeOver(source: Server | undefined, target: Server): boolean {
  if (sameProject(source?.project, target.project) === false) return false
  return sameSite({ location: undefined, assigned: source?.site, target: target.site }) !== false
}

function asFound({ id, hostname, label }: Server): FoundServer {
  return { id, name: hostname ?? label ?? id }
}
