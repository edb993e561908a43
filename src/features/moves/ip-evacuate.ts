import type { KnownBlock } from '@slack/web-api'
import type { ElasticIp, Server } from '../../account/objects.ts'
import { listNow, nothingIfAbsent, readOrRefuse, requireUncut } from '../../account/resource.ts'
import type { App } from '../../app.ts'
import { freshSeenMs, placeFact, type SeenAssignment, statusNotShown } from '../../domain/account.ts'
import type { Change, Description, Preflight, PreflightOptions } from '../../domain/change.ts'
import { isUnanswered } from '../../domain/errors.ts'
import type { List } from '../../domain/list.ts'
import { resourcesOf, scheduleOf } from '../../domain/request.ts'
import { inNaturalOrder, type Phrase, phrase, sameName } from '../../domain/text.ts'
import { unlessAborted } from '../../domain/within.ts'
import { changeFeature, type Named } from '../../kit/change-feature.ts'
import { type Form, pick } from '../../kit/change-form.ts'
import { agoWords, sentBefore } from '../../kit/elastic-ip.ts'
import { findTyped, readBriefly, type Thing } from '../../kit/thing.ts'
import { servers } from '../../kit/things.ts'
import { context, input, option, wholeSection } from '../../slack/blocks.ts'
import { Refusal } from '../../slack/errors.ts'
import { mostCheckboxes } from '../../slack/fit.ts'
import { oldNotes } from '../../slack/listing.ts'
import { checkboxes, preset } from '../../slack/pickers.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn, nameWords, phraseWords } from '../../slack/text.ts'
import {
  addressesLeftOut,
  bgpLeft,
  checkAddresses,
  checkEvacuation,
  completeEvacuation,
  EvacuationFacts,
  EvacuationInput,
  type EvacuationReads,
  evacuationDifferences,
  evacuationFindings,
  explainEvacuation,
  type LeftOut,
  mostEvacuated,
  movesOf,
  movesWords,
  whatStays,
} from './evacuation.ts'
import { idOf, moveChange, moveKind, readNamesakes, readServer, serversMeant } from './move-change.ts'
import { addressOf, canMoveTo, needsAssignedServer, refuseMove } from './move-checks.ts'
import { goingOn, movesAt, named, warnOfOthers } from './open-requests.ts'

/** The server to evacuate. One that the account no longer shows is found where Lockkeeper saw it before. */
const sources: Thing<Server> = {
  ...servers,
  find: async (app, typed, signal) => {
    const found = (await servers.find?.(app, typed, signal)) ?? []
    if (found.length > 0) return found
    const seen = await app.assignments.find(({ serverId, serverName }) => serverId === typed || sameName(serverName, typed))
    return [...new Map(seen.map(({ serverId, serverName }) => [serverId, { id: serverId, hostname: serverName }])).values()]
  },
}

export const evacuationForm: Form<EvacuationInput, EvacuationFacts, 'serverId' | 'targetId'> = {
  callbackId: 'evacuate-server',
  title: 'Evacuate a server',
  about: 'serverId',
  fields: {
    serverId: pick(sources, { label: 'Server', hint: 'Its Elastic IPs are moved to another server.' }),
    targetId: pick(servers, {
      label: 'Target',
      hint: 'Must be in the same project and site.',
      dependsOn: 'serverId',
      fits: targetsOf,
    }),
  },
  errorsAt: 'targetId',
  filled: ({ serverId, targetId }, { from, to }) => ({
    serverId: preset({ text: from.name, value: serverId }),
    targetId: preset({ text: to.name, value: targetId }),
  }),
  boxes: {
    name: 'elasticIpIds',
    late: mrkdwn`Couldn't read the addresses of this server in time. Choose it again to see them.`,
    read: async (app, { serverId, targetId }, asked, signal) =>
      serverId === undefined ? [] : addressBlocks(await offerAddresses(app, { serverId, targetId, ...asked }, signal)),
    filled: earlierAddresses,
    problem: (ticked) => {
      // Without addresses, an evacuation moves all that the server has, and the form showed that none of these can be moved.
      if (!ticked) return mrkdwn`Nothing to move. Choose another server.`
      if (ticked.length === 0) return mrkdwn`Choose at least one address.`
      // A forged form may have more than were offered, and each that the account does not list for the server is read by itself.
      if (ticked.length <= mostEvacuated) return undefined
      return mrkdwn`One request moves up to ${mostEvacuated} addresses. You chose ${ticked.length}.`
    },
  },
}

async function targetsOf(app: App, serverId: string): Promise<(target: Server) => boolean> {
  const { items } = await app.lists.servers()
  const source = items.find(({ id }) => id === serverId)
  const address = { project: source?.project, site: undefined, server: { id: serverId, hostname: source?.hostname } }
  return (target) => canMoveTo(address, target, source)
}

/** How often Lockkeeper lists all Elastic IPs, so that it knows which addresses a server had before it died. */
const snapshotMs = 5 * 60_000

export const evacuateServer = changeFeature({
  kind: 'ip.evacuate',
  bundles: { 'ip.evacuate': moveKind },
  change: evacuation,
  findings: evacuationFindings,
  form: evacuationForm,
  command: {
    words: 'evacuate',
    usage: '[<server> [<target>]]',
    group: 'Change',
    summary: 'Move all Elastic IPs of a server to another one',
    details: mrkdwn`One request and one approval for all addresses that the server has, up to 50. Both servers by hostname or id, in the same project and site. Leave the target out to choose the addresses in a form. ${code('to')} between the two is fine.`,
    examples: ['web-1 web-2', 'web-1 to web-2', 'web-1'],
    button: 'Evacuate',
    shortcut: 'evacuate-server',
  },
  read: {
    names: {
      serverId: { called: 'server', member: 'server', description: 'The server to evacuate, by its hostname or id' },
      targetId: { called: 'target', member: 'target', description: 'The server that takes over, by its hostname or id' },
    },
    find: findNamed,
    machines: {
      tool: 'propose_evacuation',
      title: 'Propose to evacuate a server',
      description:
        'Requests to move all Elastic IPs of a server, at most 50, to another server of the same project and site. One approval covers all of them.',
    },
  },
  item: { of: 'server', label: 'Evacuate…' },
  offer: { of: 'server', label: 'Evacuate…' },
  repeated: () => [
    {
      name: 'assignments',
      everyMs: snapshotMs,
      // The process that reads a complete list of Elastic IPs stores what it shows. One that is younger than 10 s has been stored.
      run: async (app, signal) => void requireUncut(await unlessAborted(signal, app.lists.elasticIps())),
    },
  ],
})

async function findNamed(
  app: App,
  { serverId, targetId }: Record<'serverId' | 'targetId', string>,
  signal: AbortSignal,
): Promise<Named<EvacuationInput>> {
  const [source, ...others] = await findTyped(app, sources, serverId, signal)
  const ids = [source, ...others].map(({ id }) => code(id))
  if (others.length > 0)
    throw new Refusal(
      'several-named',
      mrkdwn`${ids.length} servers are called ${nameWords(serverId)}. Use the id: ${joinMrkdwn(ids, ', ')}.`,
    )
  return {
    thing: servers,
    typed: targetId,
    found: serversMeant(await findTyped(app, servers, targetId, signal), source),
    inputOf: (targetId) => ({ serverId: source.id, targetId }),
    ask: mrkdwn`Which one should the Elastic IPs of ${nameWords(source.hostname ?? source.id)} move to?`,
    byId: `evacuate ${serverId} <id>`,
  }
}

/** The change that moves all Elastic IPs of a server to another server, with one write for each. */
export function evacuation(app: App): Change<EvacuationInput, EvacuationFacts> {
  const move = moveChange(app)
  return {
    kind: 'ip.evacuate',
    label: 'evacuating a server',
    takesTime: true,
    input: EvacuationInput,
    inputOfAlert: (servers) => ({ ...servers, leavesOut: true }),
    facts: EvacuationFacts,
    resource: ({ serverId }) => `server:${serverId}`,
    moreResources: (_, facts) => movesOf(facts).map((item) => move.resource(move.input.parse(item.input))),
    project: (facts) => facts.project ?? 'unknown',
    preflight: (input, options) => preflight(app, input, options),
    differences: evacuationDifferences,
    explain: explainEvacuation,
    complete: completeEvacuation,
    remark: remarkWords,
    leaves: whatStays,
    subject: ({ from }) => from.name,
    target: ({ to }) => to,
    describe,
    items: {
      change: move,
      of: movesOf,
      leftOut: addressesLeftOut,
      narrow: (input, elasticIpIds) => ({ ...input, elasticIpIds }),
    },
    observe: async () => ({ is: 'unclear' }),
    doneSentence: ({ items, to }) => phrase`${addressOrCount(items)} ${[items.length === 1 ? 'is' : 'are']} assigned to ${to.name}.`,
    reverse: ({ elasticIpIds = [] }, { from, to, project, site, items }) => ({
      input: { serverId: to.id, targetId: from.id, elasticIpIds },
      facts: {
        from: to,
        to: from,
        project,
        site,
        items: items.map(({ elasticIpId, address }) => ({ elasticIpId, address, from: to, to: from, toStatus: statusNotShown })),
        leftOut: [],
      },
      label: 'Move back',
    }),
    undoing: (facts) => ({ ...facts, isBack: true }),
  }
}

/** All its usual reads are sent at once. Before the writes, the server itself is read only if its site is needed. */
async function preflight(
  app: App,
  input: EvacuationInput,
  { signal, forRequest = false }: PreflightOptions,
): Promise<Preflight<EvacuationFacts, EvacuationInput>> {
  const { serverId, targetId, elasticIpIds } = input
  const options = { signal, shared: forRequest }
  const [addresses, target, shown] = await Promise.all([
    readAddresses(app, serverId, { elasticIpIds, forRequest, signal }),
    readOrRefuse(
      () => readServer(app, targetId, options),
      () => refuseMove({ code: 'no-server', serverId: targetId }),
    ),
    // People evacuate servers that are gone, so the server does not have to be readable.
    forRequest ? readServer(app, serverId, options).catch(() => undefined) : undefined,
  ])
  const isNeeded =
    !forRequest && addresses.all.some((each) => each.server?.id === serverId && needsAssignedServer({ elasticIp: each, target }))
  const source = isNeeded ? await app.account.servers.get(serverId, { signal }).catch(() => undefined) : shown
  const namesakes = await readNamesakes(app, forRequest ? target : undefined, signal)
  const onServer = addresses.all.filter(({ server }) => server?.id === serverId)
  const single = [...addresses.single.values()].filter((each) => each !== 'gone')
  // One that a person chose is refused when the request is recorded. The form unticks those that it can see.
  const canBeLeft = ({ id }: ElasticIp) => input.leavesOut ?? (forRequest && elasticIpIds?.includes(id) === false)
  const locked = await readLocks(app, [...onServer, ...single].filter(canBeLeft), serverId)
  const moves = forRequest && onServer.length === 0 ? await readBriefly(movesAt(app, serverId)) : undefined
  const checked = checkEvacuation(input, { ...addresses, source, target, locked, moves }, forRequest ? 'request' : 'writes')
  const others = forRequest ? await warnOfOthers(app, checked.facts) : []
  const { unchecked, warnings = [] } = checked
  return { ...checked, unchecked: [...unchecked, ...namesakes.unchecked], warnings: [...others, ...warnings, ...namesakes.warnings] }
}

/** Finds the addresses that other open requests have, each with why it is left out. */
async function readLocks(app: App, addresses: Pick<ElasticIp, 'id' | 'address'>[], serverId: string) {
  const { resource } = moveChange(app)
  const lockOf = new Map(addresses.map((each) => [resource({ elasticIpId: each.id, serverId: '' }), each]))
  const [first, ...others] = lockOf.keys()
  if (first === undefined) return undefined
  const holders = await app.store.othersFor({ id: '', resource: first, moreResources: others })
  const found = holders.flatMap((holder) => {
    const why = {
      code: 'locked',
      ...named(app, holder),
      start: scheduleOf(holder)?.until,
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
async function readAddresses(
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
async function offerAddresses(app: App, { serverId, targetId, ticked, only }: Wanted, signal: AbortSignal): Promise<OfferedAddresses> {
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
function earlierAddresses({ elasticIpIds }: EvacuationInput, { from, items, leftOut, bgp = [] }: EvacuationFacts) {
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
function addressBlocks({ serverId, serverName, cannotMove, bgp, moves = [], old, ...all }: OfferedAddresses): KnownBlock[] {
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

function remarkWords({ from, came = [] }: EvacuationFacts): string | undefined {
  if (came.length === 0) return undefined
  return `Assigned to ${from.name} after the request, so not moved: ${came.map(({ address }) => address).join(', ')}.`
}

function describe({ from, to, project, site, items, isBack }: EvacuationFacts): Description {
  const moved = addressOrCount(items)
  return {
    title: isBack ? phrase`Move back ${moved}: ${from.name} → ${to.name}` : phrase`Evacuate ${from.name} → ${to.name} (${moved})`,
    short: items.length === 1 ? undefined : phrase`${[isBack ? 'Move back' : 'Evacuate']} ${from.name} → ${to.name}`,
    facts: [placeFact(project, site)],
    ids: [...idOf('From', from), ...idOf('To', to)],
    underway: 'moving',
  }
}

function addressOrCount(items: EvacuationFacts['items']): Phrase {
  const [only, ...others] = items
  return only && others.length === 0 ? phrase`${addressOf(only)}` : [`${items.length} Elastic IPs`]
}
