import { isIP } from 'node:net'
import type { AccountApi } from '../../account-api/client.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import { findInList } from '../../account-api/lists/cut-list.ts'
import { nothingIfAbsent } from '../../account-api/reading.ts'
import type { ElasticIp } from '../../domain/account/elastic-ip.ts'
import type { Server } from '../../domain/account/server.ts'
import { type MoveInput, sameAddress } from '../../domain/elastic-ip-move/elastic-ip-move.ts'
import { UnknownName } from '../../domain/errors/errors.ts'
import { addressProblem } from '../../domain/text/address-problem.ts'
import { findServers, type ServerCopies, serversMeant } from '../../moves/find-server.ts'

interface Options {
  signal?: AbortSignal
}

interface TypedNames {
  elasticIp: string
  server: string
}

/** `several`: more than one server has the typed name. */
type Resolved = { input: MoveInput } | { several: { elasticIp: ElasticIp; servers: Server[] } }

/**
 * Finds the ids of what a person typed: an Elastic IP by id or address, a server by id or hostname. Throws UnknownName if there is
 * none. `copies`: the lists that are shared.
 */
export function createResolve(
  accountApi: Pick<AccountApi, 'elasticIps' | 'servers'>,
  copies?: ServerCopies & Pick<Inventory, 'elasticIps'>,
) {
  async function findElasticIp(typed: string, options: Options): Promise<ElasticIp> {
    const problem = addressProblem(typed)
    if (problem !== undefined) throw new UnknownName('Elastic IP', typed, problem)
    const address = typed.replace(/\/\d{1,3}$/, '')
    const found =
      isIP(address) === 0
        ? await accountApi.elasticIps.get(typed, options).catch(nothingIfAbsent)
        : await findInList(copies ? copies.elasticIps() : accountApi.elasticIps.list(options), (elasticIp) =>
            sameAddress(elasticIp.address, address),
          )
    if (!found) throw new UnknownName('Elastic IP', address)
    return found
  }

  return async function resolve({ elasticIp: typed, server: typedServer }: TypedNames, options: Options = {}): Promise<Resolved> {
    // Typed ids are used as they are. The preflight check reads them, and says what could not be read.
    if (areIds(typed, typedServer)) return { input: { elasticIpId: typed, serverId: typedServer } }
    // If neither exists, the error names the Elastic IP, because people type it first.
    const servers = findServers(accountApi, typedServer, { copies, ...options })
    servers.catch(() => {})
    const elasticIp = await findElasticIp(typed, options)
    const [server, ...others] = serversMeant(typedServer, await servers, elasticIp.project)
    return others.length === 0
      ? { input: { elasticIpId: elasticIp.id, serverId: server.id } }
      : { several: { elasticIp, servers: [server, ...others] } }
  }
}

/** Whether both look like ids of the service: `eip_…`, `ueip_…` (BGP) and `sv_…`. Anything else may be a name. */
function areIds(elasticIp: string, server: string): boolean {
  return /^u?eip_\w+$/.test(elasticIp) && /^sv_\w+$/.test(server)
}
