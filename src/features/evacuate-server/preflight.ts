import pLimit from 'p-limit'
import type { AccountApi } from '../../account-api/client.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import { listNow } from '../../account-api/lists/cut-list.ts'
import { leftOutOf } from '../../account-api/lists/left-out.ts'
import { nothingIfAbsent, readOrRefuse } from '../../account-api/reading.ts'
import type { SeenAssignments } from '../../domain/account/assignment.ts'
import type { ElasticIp } from '../../domain/account/elastic-ip.ts'
import type { Preflight, PreflightOptions } from '../../domain/change/preflight.ts'
import { needsAssignedServer, refuseMove } from '../../domain/elastic-ip-move/check.ts'
import { serverNameIn } from '../../domain/elastic-ip-move/elastic-ip-move.ts'
import { isUnanswered } from '../../domain/errors/api-errors.ts'
import type { Missing } from '../../domain/errors/missing.ts'
import type { EvacuationReads } from '../../domain/evacuation/addresses.ts'
import { checkEvacuation } from '../../domain/evacuation/check.ts'
import { type EvacuationFacts, type EvacuationInput, mostEvacuated } from '../../domain/evacuation/evacuation.ts'
import { inNaturalOrder } from '../../domain/text/natural-order.ts'
import { readServer, type ServerCopies } from '../../moves/find-server.ts'
import { noNamesakes, readNamesakes } from '../../moves/namesakes.ts'

/** Reads of single addresses that run at the same time. They are needed only for addresses that the list lacks. */
const parallelReads = mostEvacuated

export interface EvacuationReadsParts {
  accountApi: Pick<AccountApi, 'elasticIps' | 'servers'>
  /** The lists that are shared, for requests and forms. */
  copies?: (ServerCopies & Pick<Inventory, 'elasticIps'>) | undefined
  seen: SeenAssignments
}

/**
 * What to read of a server, and how. `isStrict`: if the read of one address fails, the whole read fails. Otherwise that address stays
 * undecided. `mayBeOld`: an earlier list will do, because the addresses are only offered.
 */
interface ReadOptions {
  elasticIpIds?: string[] | undefined
  isStrict: boolean
  mayBeOld?: boolean
  signal?: AbortSignal | undefined
}

/**
 * Creates the reads of a server's addresses: one list of all Elastic IPs and, only where it shows none on the server, what Lockkeeper saw there
 * before. An address that the list lacks is read by itself.
 */
export function createReadAddresses({ accountApi, copies, seen }: EvacuationReadsParts) {
  const limit = pLimit(parallelReads)

  return async function readAddresses(
    serverId: string,
    { elasticIpIds = [], isStrict, mayBeOld = false, signal }: ReadOptions,
  ): Promise<Pick<EvacuationReads, 'all' | 'single' | 'seen'> & Pick<Missing, 'old'>> {
    const share = isStrict ? copies?.elasticIps : undefined
    const all = await (share && mayBeOld ? share() : listNow(share, () => accountApi.elasticIps.list({ signal })))
    const onServer = new Set(all.flatMap(({ id, server }) => (server?.id === serverId ? [id] : [])))
    // Before the writes the approved addresses are known, and new ones are not moved.
    const seenThere = onServer.size > 0 || !isStrict ? [] : await seen.find((each) => each.serverId === serverId)
    // Redis returns them in no order.
    const inOrder = seenThere.toSorted((one, other) => inNaturalOrder(one.address, other.address))
    const meant = new Set([...elasticIpIds, ...inOrder.map(({ elasticIpId }) => elasticIpId)])
    return { all, single: await findEach([...meant].filter((id) => !onServer.has(id))), seen: seenThere, old: leftOutOf(all).old }

    async function findEach(ids: string[]): Promise<EvacuationReads['single']> {
      const listed = new Map(all.map((elasticIp) => [elasticIp.id, elasticIp]))
      const read = await Promise.all(ids.map((id) => listed.get(id) ?? limit(() => readOne(id))))
      return new Map(read.flatMap((each, index) => (each ? [[ids[index] ?? '', each]] : [])))
    }

    async function readOne(id: string): Promise<ElasticIp | 'gone' | undefined> {
      try {
        return (await accountApi.elasticIps.get(id, { signal }).catch(nothingIfAbsent)) ?? 'gone'
      } catch (error) {
        if (isStrict || !isUnanswered(error)) throw error
        return undefined
      }
    }
  }
}
export type ReadAddresses = ReturnType<typeof createReadAddresses>

/**
 * Creates the preflight check of an evacuation. All its usual reads are sent at once. Before the writes, the server itself is read only if its site is
 * needed.
 */
export function createPreflight({
  accountApi,
  copies,
  readAddresses,
}: Pick<EvacuationReadsParts, 'accountApi' | 'copies'> & { readAddresses: ReadAddresses }) {
  return async function preflight(
    input: EvacuationInput,
    { signal, forRequest = false, earlier }: PreflightOptions<EvacuationFacts>,
  ): Promise<Preflight<EvacuationFacts, EvacuationInput>> {
    const { serverId, targetId, elasticIpIds } = input
    const options = { signal, ...(forRequest ? { copies } : {}) }
    const [addresses, target, shown] = await Promise.all([
      readAddresses(serverId, { elasticIpIds, isStrict: forRequest, signal }),
      readOrRefuse(
        () => readServer(accountApi, targetId, options),
        () => refuseMove({ code: 'no-server', serverId: targetId, ...serverNameIn(earlier, targetId) }),
      ),
      // People evacuate servers that are gone, so the server does not have to be readable.
      forRequest ? readServer(accountApi, serverId, options).catch(() => undefined) : undefined,
    ])
    const isNeeded =
      !forRequest && addresses.all.some((each) => each.server?.id === serverId && needsAssignedServer({ elasticIp: each, target }))
    const source = isNeeded ? await accountApi.servers.get(serverId, { signal }).catch(() => undefined) : shown
    const namesakes = forRequest && target ? await readNamesakes(accountApi, target, { signal, copies }) : noNamesakes
    const checked = checkEvacuation(
      input,
      { ...addresses, source, sourceName: earlier?.from.id === serverId ? earlier.from.name : undefined, target },
      forRequest ? 'request' : 'writes',
    )
    return {
      ...checked,
      unchecked: [...checked.unchecked, ...namesakes.unchecked],
      warnings: [...(checked.warnings ?? []), ...namesakes.warnings],
    }
  }
}
