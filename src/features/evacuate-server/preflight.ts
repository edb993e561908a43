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

/** Reads of single addresses that run at the same time. They are needed only where the list does not show the addresses. */
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
 * Creates the reads of a server's addresses: one list that shows them all and, only where it does not, what Lockkeeper saw on the server
 * before, each address read by itself.
 */
export function createReadAddresses({ accountApi, seen }: EvacuationReadsParts) {
  const limit = pLimit(parallelReads)

  return async function readAddresses(
    serverId: string,
    { elasticIpIds = [], isStrict, signal }: ReadOptions,
  ): Promise<Pick<EvacuationReads, 'listed' | 'single' | 'seen'>> {
    const listed = await accountApi.elasticIps.list({ serverId, signal })
    const isListed = listed.some(({ server }) => server === undefined || server.id === serverId)
    // Before the writes the approved addresses are known, and new ones are not moved.
    const seenThere = isListed || !isStrict ? [] : await seen.find((each) => each.serverId === serverId)
    // Redis returns them in no order.
    const inOrder = seenThere.toSorted((one, other) => inNaturalOrder(one.address, other.address))
    const shown = new Set(listed.map(({ id }) => id))
    const missing = [...new Set([...elasticIpIds, ...inOrder.map(({ elasticIpId }) => elasticIpId)])].filter((id) => !shown.has(id))
    return { listed, single: await readEach(missing), seen: seenThere }

    async function readEach(ids: string[]): Promise<EvacuationReads['single']> {
      const read = await Promise.all(ids.map((id) => limit(() => readOne(id))))
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
