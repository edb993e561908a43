import type { AccountApi } from '../account-api/client.ts'
import { asFarAsRead } from '../account-api/cut-list.ts'
import { readOrRefuse } from '../account-api/reading.ts'
import type { Preflight, PreflightOptions } from '../domain/change.ts'
import type { MoveFacts, MoveInput } from '../domain/elastic-ip-move.ts'
import { checkMove, needsAssignedServer, refuseMove } from '../domain/elastic-ip-move-check.ts'
import type { MoveFinding } from '../domain/elastic-ip-move-findings.ts'
import { namesakeWarnings } from '../domain/elastic-ip-move-warnings.ts'
import type { Server } from '../domain/server.ts'
import { withinOr } from '../domain/within.ts'

/** The time limit for the search for other servers of the same name, because the requester waits for it. */
const namesakesMs = 3_000

interface Namesakes {
  warnings: MoveFinding[]
  unchecked: MoveFinding[]
}

const none: Namesakes = { warnings: [], unchecked: [] }

/** Creates the preflight check of a move: it reads both objects in parallel, and the old server only if the sites need it. */
export function createPreflight(accountApi: Pick<AccountApi, 'elasticIps' | 'servers'>) {
  /** Searches for other servers of the same name, because approvers could mistake them for the target. A failure prevents no move. */
  async function readNamesakes(target: Server, options: { signal: AbortSignal | undefined }): Promise<Namesakes> {
    const { hostname } = target
    if (hostname === undefined) return none
    const list = asFarAsRead(accountApi.servers.list({ hostname, ...options }))
    const read = await withinOr(
      namesakesMs,
      list.catch(() => undefined),
      undefined,
    )
    const warnings = namesakeWarnings(target, read?.items ?? [])
    const isOpen = warnings.length === 0 && (read === undefined || read.cut !== undefined)
    return { warnings, unchecked: isOpen ? [{ code: 'names-not-compared', server: hostname }] : [] }
  }

  return async function preflight(input: MoveInput, { signal, forRequest }: PreflightOptions): Promise<Preflight<MoveFacts, MoveInput>> {
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
    const [assigned, namesakes] = await Promise.all([
      // A fault of the old server must not prevent a move away from it. The request message says what was not checked.
      assignedId === undefined ? undefined : accountApi.servers.get(assignedId, options).catch(() => undefined),
      forRequest && target ? readNamesakes(target, options) : none,
    ])
    const { unchecked, warnings = [], ...checked } = checkMove(input, { elasticIp, target, assigned })
    return { ...checked, unchecked: [...unchecked, ...namesakes.unchecked], warnings: [...warnings, ...namesakes.warnings] }
  }
}
