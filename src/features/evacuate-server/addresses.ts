import type { AccountApi } from '../../account-api/client.ts'
import { freshSeenMs } from '../../domain/account/assignment.ts'
import { sendingMs } from '../../domain/account/lane.ts'
import { checkAddresses } from '../../domain/evacuation/addresses.ts'
import { type EvacuationFacts, type LeftOut, mostEvacuated } from '../../domain/evacuation/evacuation.ts'
import { readServer, type ServerCopies } from '../../moves/find-server.ts'
import type { FindLastMove } from './find-last-move.ts'
import { isGone } from './gone.ts'
import type { OfferedAddresses } from './offered.ts'
import type { ReadAddresses } from './preflight.ts'

export interface Wanted {
  serverId: string
  /** The server that they are to be moved to, if it is chosen. */
  targetId?: string | undefined
  /** The addresses that were ticked before. Absent: all that were seen recently are ticked. */
  ticked?: string[] | undefined
}

interface AddressesParts {
  accountApi: Pick<AccountApi, 'servers'>
  copies?: ServerCopies
  readAddresses: ReadAddresses
  lastMoveOf: FindLastMove
  /** What the account allows. */
  writesPerMinute: number
}

/** Creates the function that reads which addresses of a server can be moved. Throws as the reads of the account API do. */
export function createOfferAddresses({ accountApi, copies, readAddresses, lastMoveOf, writesPerMinute }: AddressesParts) {
  return async function offerAddresses({ serverId, targetId, ticked }: Wanted, signal: AbortSignal): Promise<OfferedAddresses> {
    const known = async (id: string | undefined) =>
      id === undefined ? undefined : readServer(accountApi, id, { copies, signal }).catch(() => undefined)
    const [reads, source, target] = await Promise.all([
      readAddresses(serverId, { elasticIpIds: ticked, isStrict: true, mayBeOld: true, signal }),
      known(serverId),
      known(targetId),
    ])
    const { from, checked, bgp } = checkAddresses(
      { serverId, targetId: targetId ?? '', elasticIpIds: ticked },
      { ...reads, source, target },
      'request',
    )
    const cannotMove = checked.flatMap((each) => ('finding' in each ? [each] : []))
    const gone = cannotMove.filter((each) => isGone(each)).map(({ elasticIpId }) => elasticIpId)
    const offered = checked.flatMap((each) => ('move' in each ? [{ ...each, seenAgoMs: each.move.facts.seenAgoMs }] : []))
    const takesMs = sendingMs(Math.min(offered.length, mostEvacuated), writesPerMinute)
    return {
      serverId,
      serverName: from.name,
      sending: takesMs > 0 ? { takesMs, perMinute: writesPerMinute } : undefined,
      offered: offered.map(({ elasticIpId, address, seenAgoMs = 0 }, index) => ({
        elasticIpId,
        address,
        ...(seenAgoMs > 0 ? { seenAgoMs } : {}),
        isTicked: ticked ? ticked.includes(elasticIpId) : index < mostEvacuated && seenAgoMs <= freshSeenMs,
      })),
      cannotMove,
      old: reads.old,
      bgp,
      ...(gone.length > 0 || checked.length === 0 ? { lastMove: await lastMoveOf({ serverId, elasticIpIds: gone }) } : {}),
    }
  }
}
export type OfferAddresses = ReturnType<typeof createOfferAddresses>

/** Offers the addresses of an earlier request: those that are to be moved, ticked, and those that its requester left out. */
export function requestedAddresses(
  { from, items, leftOut, bgp = [] }: EvacuationFacts,
  elasticIpIds: string[] | undefined,
): OfferedAddresses {
  const moved = items.filter(({ elasticIpId }) => elasticIpIds?.includes(elasticIpId) ?? true)
  const isChoice = ({ finding }: LeftOut) => finding.code === 'not-chosen'
  return {
    serverId: from.id,
    serverName: from.name,
    offered: [
      ...moved.map(({ elasticIpId, address = elasticIpId, seenAgoMs }) => ({ elasticIpId, address, seenAgoMs, isTicked: true })),
      ...leftOut.filter(isChoice).map(({ elasticIpId, address }) => ({ elasticIpId, address, isTicked: false })),
    ],
    cannotMove: leftOut.filter((each) => !isChoice(each)),
    bgp,
  }
}

/** Takes from the addresses of a server those that an earlier request was about, as they are now. */
export function stillRequested(now: OfferedAddresses, { offered, cannotMove }: OfferedAddresses): OfferedAddresses {
  const requested = new Set([...offered, ...cannotMove].map(({ elasticIpId }) => elasticIpId))
  const isRequested = ({ elasticIpId }: { elasticIpId: string }) => requested.has(elasticIpId)
  return { ...now, offered: now.offered.filter(isRequested), cannotMove: now.cannotMove.filter(isRequested) }
}
