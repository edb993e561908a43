import type { AccountApi } from '../../account-api/client.ts'
import { readOrRefuse } from '../../account-api/reading.ts'
import type { Preflight } from '../../domain/change.ts'
import type { MoveFacts, MoveInput } from '../../domain/elastic-ip-move.ts'
import { checkMove, needsAssignedServer, refuseMove } from '../../domain/elastic-ip-move-check.ts'

/** Creates the preflight check of a move: it reads both objects in parallel, and the old server only if the sites need it. */
export function createPreflight(accountApi: Pick<AccountApi, 'elasticIps' | 'servers'>) {
  return async function preflight(input: MoveInput, { signal }: { signal?: AbortSignal }): Promise<Preflight<MoveFacts>> {
    const options = { signal }
    const [elasticIp, target] = await Promise.all([
      readOrRefuse(
        () => accountApi.elasticIps.get(input.elasticIpId, options),
        () => refuseMove({ code: 'no-elastic-ip', elasticIpId: input.elasticIpId }),
      ),
      readOrRefuse(
        () => accountApi.servers.get(input.serverId, options),
        () => refuseMove({ code: 'no-server', serverId: input.serverId }),
      ),
    ])
    const assignedId = needsAssignedServer({ elasticIp, target }) ? elasticIp?.server?.id : undefined
    // A fault of the old server must not prevent a move away from it. The request message says what was not checked.
    const assigned = assignedId === undefined ? undefined : await accountApi.servers.get(assignedId, options).catch(() => undefined)
    return checkMove(input, { elasticIp, target, assigned })
  }
}
