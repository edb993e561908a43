import { isIP } from 'node:net'
import type { AccountApi } from '../../account-api/client.ts'
import { findInList } from '../../account-api/cut-list.ts'
import { nothingIfAbsent } from '../../account-api/reading.ts'
import type { ElasticIp } from '../../domain/elastic-ip.ts'
import { type MoveInput, sameAddress } from '../../domain/elastic-ip-move.ts'
import { UnknownName, UserError } from '../../domain/errors.ts'
import { sameProject } from '../../domain/place.ts'
import type { Server } from '../../domain/server.ts'
import { someOf } from '../../domain/some-of.ts'

interface Options {
  signal?: AbortSignal
}

/**
 * Finds the ids of what a person typed: an Elastic IP by id or address, a server by id or hostname. Throws UnknownName if there is
 * none, and UserError if there is more than one.
 */
export function createResolve(accountApi: Pick<AccountApi, 'elasticIps' | 'servers'>) {
  async function findElasticIp(typed: string, options: Options): Promise<ElasticIp> {
    const address = typed.replace(/\/\d{1,3}$/, '')
    const found =
      isIP(address) === 0
        ? await accountApi.elasticIps.get(typed, options).catch(nothingIfAbsent)
        : await findInList(accountApi.elasticIps.list(options), (elasticIp) => sameAddress(elasticIp.address, address))
    if (!found) throw new UnknownName('Elastic IP', address)
    return found
  }

  /** Returns the server with this id, or else those with this hostname. */
  async function findServers(typed: string, options: Options): Promise<Server[]> {
    const [byHostname, byId] = await Promise.all([
      accountApi.servers.list({ hostname: typed, ...options }),
      accountApi.servers.get(typed, options).catch(nothingIfAbsent),
    ])
    return byId ? [byId] : byHostname.filter((server) => server.hostname?.toLowerCase() === typed.toLowerCase())
  }

  return async function resolve(typedElasticIp: string, typedServer: string, options: Options = {}): Promise<MoveInput> {
    // Typed ids are used as they are. The preflight check reads them, and says what could not be read.
    if (areIds(typedElasticIp, typedServer)) return { elasticIpId: typedElasticIp, serverId: typedServer }
    // If neither exists, the Elastic IP is reported, because people type it first.
    const servers = findServers(typedServer, options)
    servers.catch(() => {})
    const elasticIp = await findElasticIp(typedElasticIp, options)
    return { elasticIpId: elasticIp.id, serverId: chooseServer(typedServer, await servers, elasticIp) }
  }
}
export type Resolve = ReturnType<typeof createResolve>

/** Returns the only server, or the only one in the project of the Elastic IP. Several servers can have the same hostname. */
export function chooseServer(typed: string, candidates: Server[], elasticIp: ElasticIp | undefined): string {
  const [only, ...others] = candidates
  if (!only) throw new UnknownName('server', typed)
  if (others.length === 0) return only.id
  const inProject = candidates.filter((server) => sameProject(server.project, elasticIp?.project))
  const [sole] = inProject
  if (sole && inProject.length === 1) return sole.id
  const list = candidates.map(
    (server) => `${server.id} (${server.project?.name ?? 'unknown project'}, ${server.site?.slug ?? server.site?.name ?? 'unknown site'})`,
  )
  throw new UserError(`${candidates.length} servers are called ${typed}: ${someOf(list)}. Use the id.`)
}

/** Whether both look like ids of the service: `eip_…`, `ueip_…` (BGP) and `sv_…`. Anything else may be a name. */
function areIds(elasticIp: string, server: string): boolean {
  return /^u?eip_\w+$/.test(elasticIp) && /^sv_\w+$/.test(server)
}
