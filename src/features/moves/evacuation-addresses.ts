import type { KnownBlock } from '@slack/web-api'
import type { ElasticIp } from '../../account/objects.ts'
import { listNow, nothingIfAbsent, requireUncut } from '../../account/resource.ts'
import type { App } from '../../app.ts'
import { freshSeenMs, type SeenAssignment } from '../../domain/account.ts'
import { isUnanswered } from '../../domain/errors.ts'
import type { List } from '../../domain/list.ts'
import { resourcesOf, scheduleOf } from '../../domain/request.ts'
import { inNaturalOrder } from '../../domain/text.ts'
import { agoWords, sentBefore } from '../../kit/elastic-ip.ts'
import { readBriefly } from '../../kit/thing.ts'
import { holdAhead } from '../../outbox/render.ts'
import { context, input, option, wholeSection } from '../../slack/blocks.ts'
import { mostCheckboxes } from '../../slack/fit.ts'
import { oldNotes } from '../../slack/listing.ts'
import { checkboxes } from '../../slack/pickers.ts'
import { joinMrkdwn, type Mrkdwn, mrkdwn, nameWords, phraseWords } from '../../slack/text.ts'
import {
  bgpLeft,
  checkAddresses,
  type EvacuationFacts,
  type EvacuationInput,
  type EvacuationReads,
  explainEvacuation,
  type LeftOut,
  mostEvacuated,
  movesWords,
} from './evacuation.ts'
import { moveChange, readServer } from './move-change.ts'
import { goingOn, movesAt, named } from './open-requests.ts'

/** Finds the addresses that other open requests have, each with why it is left out. */
export async function readLocks(app: App, addresses: Pick<ElasticIp, 'id' | 'address'>[], serverId: string) {
  const { resource } = moveChange(app)
  const lockOf = new Map(addresses.map((each) => [resource({ elasticIpId: each.id, serverId: '' }), each]))
  const [first, ...others] = lockOf.keys()
  if (first === undefined) return undefined
  const holders = await app.store.othersFor({ id: '', resource: first, moreResources: others })
  const found = holders.flatMap((holder) => {
    const why = {
      code: 'locked',
      ...named(app, holder),
      start: scheduleOf(holder) && holdAhead(app, holder)?.until,
      going: goingOn(holder),
      comes: app.catalog.targetOf(holder)?.id === serverId,
    }
    return resourcesOf(holder).flatMap((each): [string, typeof why & { address: string }][] => {
      const { id, address = '' } = lockOf.get(each) ?? {}
      return id === undefined ? [] : [[id, { ...why, address }]]
    })
  })
  return new Map(found)
}

/** The addresses that Lockkeeper saw on the server, or that may be there. */
async function findSeen(app: App, serverId: string, all: ElasticIp[]): Promise<SeenAssignment[]> {
  const strays = all.filter(({ server }) => !server)
  const [seen, sent] = await Promise.all([app.assignments.find((each) => each.serverId === serverId), sentBefore(app, strays)])
  const isNew = (each: SeenAssignment) => each.serverId === serverId && !seen.some(({ elasticIpId }) => elasticIpId === each.elasticIpId)
  return [...seen, ...sent.filter(isNew)]
}

interface ReadOptions {
  elasticIpIds?: string[] | undefined
  /** If the read of one address then fails, the whole read fails. Before the writes, that address stays undecided. */
  forRequest: boolean
  /** An earlier list will do, because the addresses are only offered. */
  mayBeOld?: boolean
  signal?: AbortSignal | undefined
}

/** What Lockkeeper saw on the server before counts only if the list shows none there. An address that the list lacks is read by itself. */
export async function readAddresses(
  app: App,
  serverId: string,
  { elasticIpIds = [], forRequest, mayBeOld = false, signal }: ReadOptions,
): Promise<Pick<EvacuationReads, 'all' | 'single' | 'seen'> & Pick<List<unknown>, 'old'>> {
  const { elasticIps } = app.account
  const readNow = () => elasticIps.list({ signal })

  async function placed(list: List<ElasticIp>) {
    const all = requireUncut(list)
    const listed = new Map(all.map((elasticIp) => [elasticIp.id, elasticIp]))
    const isThere = (id: string) => listed.get(id)?.server?.id === serverId
    // Before the writes the approved addresses are known, and new ones are not moved.
    const isSeenNeeded = forRequest && !all.some(({ id }) => isThere(id))
    const seen = isSeenNeeded ? await findSeen(app, serverId, all) : []
    const isKnown = (id: string) => isThere(id) || (!listed.get(id)?.server && seen.some(({ elasticIpId }) => elasticIpId === id))
    return { all, old: list.old, listed, isThere, seen, isKnown }
  }
  const isShared = forRequest && mayBeOld
  const shared = await placed(await (isShared ? app.lists.elasticIps() : listNow(forRequest ? app.lists.elasticIps : undefined, readNow)))
  // A shared list does not prove that a chosen address is elsewhere: Lockkeeper may have moved it here since.
  const isDoubtful = isShared && elasticIpIds.some((id) => !shared.isKnown(id))
  const { all, old, listed, isThere, seen } = isDoubtful ? await placed(await readNow()) : shared
  // Redis returns them in no order.
  const inOrder = seen.toSorted((one, other) => inNaturalOrder(one.address, other.address))

  async function readOne(id: string): Promise<[string, ElasticIp | 'gone'][]> {
    try {
      return [[id, listed.get(id) ?? (await elasticIps.get(id, { signal }).catch(nothingIfAbsent)) ?? 'gone']]
    } catch (error) {
      if (forRequest || !isUnanswered(error)) throw error
      return []
    }
  }
  const meant = new Set([...elasticIpIds, ...inOrder.map(({ elasticIpId }) => elasticIpId)])
  const single = await Promise.all([...meant].filter((id) => !isThere(id)).map(readOne))
  return { all, single: new Map(single.flat()), seen, old }
}

interface OfferedAddresses extends Pick<List<unknown>, 'old'> {
  serverId: string
  serverName: string
  /** `openRequest`: the title of the one that has it. */
  offered: {
    elasticIpId: string
    address: string
    seenAgoMs?: number | undefined
    isSent?: boolean
    openRequest?: string | undefined
    isTicked: boolean
  }[]
  cannotMove: LeftOut[]
  bgp: string[]
  moves?: EvacuationReads['moves']
}

interface Wanted {
  serverId: string
  targetId?: string | undefined
  /** The addresses that were ticked before. Absent: all that were seen recently, and that no open request has, are ticked. */
  ticked?: string[]
  only?: string[]
}

/** Reads which addresses of a server can be moved. Throws as the reads of the account API do. */
export async function offerAddresses(
  app: App,
  { serverId, targetId, ticked, only }: Wanted,
  signal: AbortSignal,
): Promise<OfferedAddresses> {
  const known = async (id: string | undefined) =>
    id === undefined ? undefined : readServer(app, id, { shared: true, signal }).catch(() => undefined)
  const [reads, source, target] = await Promise.all([
    readAddresses(app, serverId, { elasticIpIds: ticked, forRequest: true, mayBeOld: true, signal }),
    known(serverId),
    known(targetId),
  ])
  const asked = { serverId, targetId: targetId ?? '', elasticIpIds: ticked }
  const { from, checked, bgp } = checkAddresses(asked, { ...reads, source, target }, 'request')
  const wanted = only ? checked.filter(({ elasticIpId }) => only.includes(elasticIpId)) : checked
  // Without Redis, the request itself says what is locked.
  const locks = await readLocks(
    app,
    wanted.map(({ elasticIpId: id, address }) => ({ id, address })),
    serverId,
  ).catch(() => undefined)
  const offered = wanted.flatMap(({ elasticIpId, address, move, longAgo }) => {
    if (!move) return []
    const { seenAgoMs } = move.facts
    const openRequest = locks?.get(elasticIpId)?.title
    const isTicked = ticked?.includes(elasticIpId) ?? (longAgo === undefined && openRequest === undefined)
    const isSent = move.facts.showsNoServer === true && seenAgoMs === undefined
    return [{ elasticIpId, address, seenAgoMs, isSent, openRequest, isTicked }]
  })
  const cannotMove = wanted.flatMap((each) => (each.finding ? [each] : []))
  const moves = checked.length === 0 ? await readBriefly(movesAt(app, serverId)) : undefined
  return { serverId, serverName: from.name, offered, cannotMove, bgp, moves, old: reads.old }
}

/** The addresses of an earlier request: those that are to be moved, ticked, and those that its requester left out. */
export function earlierAddresses({ elasticIpIds }: EvacuationInput, { from, items, leftOut, bgp = [] }: EvacuationFacts) {
  const moved = items.filter(({ elasticIpId }) => elasticIpIds?.includes(elasticIpId) ?? true)
  const ticked = moved.map(({ elasticIpId }) => elasticIpId)
  const isChoice = ({ finding }: LeftOut) => finding.code === 'not-chosen'
  const offered = [
    ...moved.map(({ elasticIpId, address = elasticIpId, seenAgoMs }) => ({ elasticIpId, address, seenAgoMs, isTicked: true })),
    ...leftOut.filter(isChoice).map(({ elasticIpId, address }) => ({ elasticIpId, address, isTicked: false })),
  ]
  const cannotMove = leftOut.filter((each) => !isChoice(each))
  const only = [...offered, ...cannotMove].map(({ elasticIpId }) => elasticIpId)
  return {
    blocks: addressBlocks({ serverId: from.id, serverName: from.name, offered, cannotMove, bgp }),
    asked: { ticked, only },
  }
}

/** Their ids name the server, so that Slack forgets what was ticked for another one. */
export function addressBlocks({ serverId, serverName, cannotMove, bgp, moves = [], old, ...all }: OfferedAddresses): KnownBlock[] {
  const id = (part: string | number) => `elasticIpIds:${serverId}:${part}`
  const offered = all.offered.slice(0, mostEvacuated)
  const left = all.offered.length - offered.length
  const count = Math.ceil(offered.length / mostCheckboxes)
  const groups = Array.from({ length: count }, (_, index) => offered.slice(index * mostCheckboxes, (index + 1) * mostCheckboxes))
  const none = mrkdwn`:warning: Nothing to move. The account shows no Elastic IPs on ${nameWords(serverName)}, and none was last seen there in the past 24 h.${phraseWords(movesWords(moves))}`
  const stays = bgpLeft(bgp, serverName)
  const heading = offered.length > 0 ? mrkdwn`*Left out:*` : mrkdwn`*Nothing to move:*`
  const notes = [
    ...oldNotes({ old }).flatMap((note) => context([note])),
    ...seenNote(offered.flatMap(({ seenAgoMs = Number.POSITIVE_INFINITY }) => (seenAgoMs <= freshSeenMs ? [seenAgoMs] : []))),
    ...(left > 0 ? context([mrkdwn`One request moves up to ${mostEvacuated} addresses. Move the other ${left} with another one.`]) : []),
    ...(offered.length + cannotMove.length === 0 ? wholeSection(none) : []),
    ...(cannotMove.length > 0 ? wholeSection(joinMrkdwn([heading, ...cannotMove.map(whyLeftOut)], '\n')) : []),
    ...(stays ? wholeSection(phraseWords(stays)) : []),
  ]
  return [
    ...groups.map((group, index) => addressGroup(group, id(index), index, groups.length > 1)),
    ...notes.map((note, index) => ({ ...note, block_id: id(`note-${index}`) })),
  ]
}

/** One line for all. `ages`: how long ago Lockkeeper saw those here that the account shows on no server. */
function seenNote(ages: number[]): KnownBlock[] {
  if (ages.length === 0) return []
  return context([mrkdwn`The account shows no server for these. Seen here ${agoWords(ages)}.`])
}

function addressGroup(group: OfferedAddresses['offered'], blockId: string, index: number, isOneOfSeveral: boolean): KnownBlock {
  const options = group.map(({ elasticIpId, address, seenAgoMs = 0, isSent, openRequest }) => {
    const longAgo = seenAgoMs > freshSeenMs ? `Seen here ${agoWords([seenAgoMs])}` : isSent ? 'Sent here, no longer tracked' : undefined
    return option({ text: address, value: elasticIpId, description: openRequest ? `Open request: ${openRequest}` : longAgo })
  })
  const ticked = options.filter((_, at) => group[at]?.isTicked)
  return input({
    blockId,
    label: index === 0 ? 'Addresses to move' : 'More addresses',
    // Slack would ask for at least one address of each group.
    optional: isOneOfSeveral,
    element: checkboxes('elasticIpIds', options, ticked),
  })
}

function whyLeftOut({ address, finding }: LeftOut): Mrkdwn {
  return mrkdwn`•  ${explainEvacuation(finding)?.why ?? address}`
}
