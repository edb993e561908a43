import type { AccountApi } from '../account-api/client.ts'
import { asFarAsRead, type ReadList } from '../account-api/lists/cut-list.ts'
import type { Server } from '../domain/account/server.ts'
import type { MoveFinding } from '../domain/elastic-ip-move/findings.ts'
import { namesakeWarnings } from '../domain/elastic-ip-move/warnings.ts'
import { withinOr } from '../domain/within.ts'
import { allServers, type ServerCopies } from './find-server.ts'

/** The time limit for the search for other servers of the same name, because the requester waits for it. */
const namesakesMs = 3_000

interface Namesakes {
  warnings: MoveFinding[]
  unchecked: MoveFinding[]
}

export const noNamesakes: Namesakes = { warnings: [], unchecked: [] }

/** Searches for other servers of the same name, because approvers could mistake them for the target. A failure prevents no move. */
export async function readNamesakes(
  accountApi: Pick<AccountApi, 'servers'>,
  target: Server,
  { copies, ...options }: { signal: AbortSignal | undefined; copies?: ServerCopies | undefined },
): Promise<Namesakes> {
  const { hostname } = target
  if (hostname === undefined) return noNamesakes
  const read = await withinOr(
    namesakesMs,
    readNamed().catch(() => undefined),
    undefined,
  )
  const warnings = namesakeWarnings(target, read?.items ?? [])
  const isOpen = warnings.length === 0 && (read === undefined || read.cut !== undefined)
  return { warnings, unchecked: isOpen ? [{ code: 'names-not-compared', server: hostname }] : [] }

  async function readNamed(): Promise<ReadList<Server>> {
    const all = await allServers(copies)
    return all ? { items: all } : asFarAsRead(accountApi.servers.list({ hostname, ...options }))
  }
}
