import pLimit from 'p-limit'
import type { AccountApi } from '../../account-api/client.ts'
import { nothingIfAbsent, readOrRefuse } from '../../account-api/reading.ts'
import type { SeenAssignments } from '../../domain/account/assignment.ts'
import type { ElasticIp } from '../../domain/account/elastic-ip.ts'
import type { Preflight, PreflightOptions } from '../../domain/change/preflight.ts'
import { refuseMove } from '../../domain/elastic-ip-move/check.ts'
import { serverNameIn } from '../../domain/elastic-ip-move/elastic-ip-move.ts'
import { isUnanswered } from '../../domain/errors/api-errors.ts'
import type { EvacuationReads } from '../../domain/evacuation/addresses.ts'
import { checkEvacuation } from '../../domain/evacuation/check.ts'
import { type EvacuationFacts, type EvacuationInput, mostEvacuated } from '../../domain/evacuation/evacuation.ts'
import { inNaturalOrder } from '../../domain/text/natural-order.ts'
import { noNamesakes, readNamesakes } from '../../moves/namesakes.ts'

/** Reads of single addresses that run at the same time. They are needed only for addresses that the list lacks. */
const parallelReads = mostEvacuated

interface EvacuationReadsParts {
  accountApi: Pick<AccountApi, 'elasticIps' | 'servers'>
  seen: SeenAssignments
}

/**
 * What to read of a server, and how. `isStrict`: if the read of one address fails, the whole read fails. Otherwise that address stays
 * undecided.
 */
interface ReadOptions {
  elasticIpIds?: string[] | undefined
  isStrict: boolean
  signal?: AbortSignal | undefined
}

/**
 * Creates the reads of a server's addresses: one list of all Elastic IPs and, only where it shows none on the server, what Lockkeeper saw there
 * before. An address that the list lacks is read by itself.
 */
export function createReadAddresses({ accountApi, seen }: EvacuationReadsParts) {
  const limit = pLimit(parallelReads)

  return async function readAddresses(
    serverId: string,
    { elasticIpIds = [], isStrict, signal }: ReadOptions,
  ): Promise<Pick<EvacuationReads, 'all' | 'single' | 'seen'>> {
    const all = await accountApi.elasticIps.list({ signal })
    const onServer = new Set(all.flatMap(({ id, server }) => (server?.id === serverId ? [id] : [])))
    // Before the writes the approved addresses are known, and new ones are not moved.
    const seenThere = onServer.size > 0 || !isStrict ? [] : await seen.find((each) => each.serverId === serverId)
    // Redis returns them in no order.
    const inOrder = seenThere.toSorted((one, other) => inNaturalOrder(one.address, other.address))
    const meant = new Set([...elasticIpIds, ...inOrder.map(({ elasticIpId }) => elasticIpId)])
    return { all, single: await findEach([...meant].filter((id) => !onServer.has(id))), seen: seenThere }

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

/** Creates the preflight check of an evacuation. All its usual reads are sent at once. */
export function createPreflight({
  accountApi,
  readAddresses,
}: Pick<EvacuationReadsParts, 'accountApi'> & { readAddresses: ReadAddresses }) {
  return async function preflight(
    input: EvacuationInput,
    { signal, forRequest = false, earlier }: PreflightOptions<EvacuationFacts>,
  ): Promise<Preflight<EvacuationFacts, EvacuationInput>> {
    const { serverId, targetId, elasticIpIds } = input
    const [addresses, target, source] = await Promise.all([
      readAddresses(serverId, { elasticIpIds, isStrict: forRequest, signal }),
      readOrRefuse(
        () => accountApi.servers.get(targetId, { signal }),
        () => refuseMove({ code: 'no-server', serverId: targetId, ...serverNameIn(earlier, targetId) }),
      ),
      // People evacuate servers that are gone, so the server does not have to be readable.
      accountApi.servers.get(serverId, { signal }).catch(() => undefined),
    ])
    const namesakes = forRequest && target ? await readNamesakes(accountApi, target, { signal }) : noNamesakes
    const checked = checkEvacuation(input, { ...addresses, source, target }, forRequest ? 'request' : 'writes')
    return {
      ...checked,
      unchecked: [...checked.unchecked, ...namesakes.unchecked],
      warnings: [...(checked.warnings ?? []), ...namesakes.warnings],
    }
  }
}
