import type { AccountApi } from '../account-api/client.ts'
import { readOrRefuse } from '../account-api/reading.ts'
import type { Preflight, PreflightOptions } from '../domain/change/preflight.ts'
import { checkMove, needsAssignedServer, refuseMove } from '../domain/elastic-ip-move/check.ts'
import { type MoveFacts, type MoveInput, serverNameIn } from '../domain/elastic-ip-move/elastic-ip-move.ts'
import { readServer, type ServerCopies } from './find-server.ts'
import { noNamesakes, readNamesakes } from './namesakes.ts'

/** Creates the preflight check of a move: it reads both objects in parallel, and the old server only if the sites need it. */
export function createPreflight(accountApi: Pick<AccountApi, 'elasticIps' | 'servers'>, copies?: ServerCopies) {
  return async function preflight(
    input: MoveInput,
    { signal, forRequest, earlier }: PreflightOptions<MoveFacts>,
  ): Promise<Preflight<MoveFacts, MoveInput>> {
    const options = { signal, ...(forRequest ? { copies } : {}) }
    const [elasticIp, target] = await Promise.all([
      readOrRefuse(
        () => accountApi.elasticIps.get(input.elasticIpId, { signal }),
        () => refuseMove({ code: 'no-elastic-ip', elasticIpId: input.elasticIpId, ...addressIn(earlier, input.elasticIpId) }),
      ),
      readOrRefuse(
        () => readServer(accountApi, input.serverId, options),
        () => refuseMove({ code: 'no-server', serverId: input.serverId, ...serverNameIn(earlier, input.serverId) }),
      ),
    ])
    const assignedId = needsAssignedServer({ elasticIp, target }) ? elasticIp?.server?.id : undefined
    const [assigned, namesakes] = await Promise.all([
      // A failed read of the old server must not prevent a move away from it. The request message says what was not checked.
      assignedId === undefined ? undefined : readServer(accountApi, assignedId, options).catch(() => undefined),
      forRequest && target ? readNamesakes(accountApi, target, options) : noNamesakes,
    ])
    const { unchecked, warnings = [], ...checked } = checkMove(input, { elasticIp, target, assigned })
    return { ...checked, unchecked: [...unchecked, ...namesakes.unchecked], warnings: [...warnings, ...namesakes.warnings] }
  }
}

function addressIn(earlier: MoveFacts | undefined, elasticIpId: string): { address?: string } {
  return earlier?.elasticIpId === elasticIpId && earlier.address !== undefined ? { address: earlier.address } : {}
}
