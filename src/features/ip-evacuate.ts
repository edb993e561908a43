import type { KnownBlock, ModalView, PlainTextOption } from '@slack/web-api'
import pLimit from 'p-limit'
import { z } from 'zod'
import type { AccountApi } from '../account/client.ts'
import type { Inventory } from '../account/inventory.ts'
import { asFarAsRead, findInList, leftOutOf, listNow, nothingIfAbsent, readOrRefuse } from '../account/resource.ts'
import {
  type ElasticIp,
  freshSeenMs,
  type ProjectRef,
  projectName,
  type SeenAssignments,
  type Server,
  sameProject,
  sameSite,
} from '../domain/account.ts'
import type { Change, Description, Finding, Offer, Preflight, PreflightOptions } from '../domain/change.ts'
import { CheckFailed, isUnanswered, type Missing, UnknownName } from '../domain/errors.ts'
import { sendingMs } from '../domain/lane.ts'
import type { Request } from '../domain/request.ts'
import { formatAge, formatDuration, inNaturalOrder, type Phrase, phrase, serverNameProblem } from '../domain/text.ts'
import { unlessAborted, withinOr } from '../domain/within.ts'
import { findServers, servers } from '../kit/things.ts'
import { chooseBelow, purposeOf, reasonField, serverWords, type TypedChoice, whichOne, withPurpose } from '../messages/forms.ts'
import { type LinkedRequest, requestLink } from '../messages/words.ts'
import {
  addressesLeftOut,
  bgpWords,
  checkAddresses,
  checkEvacuation,
  completeEvacuation,
  EvacuationFacts,
  EvacuationFinding,
  EvacuationInput,
  type EvacuationReads,
  evacuationDifferences,
  explainEvacuation,
  type LeftOut,
  mostEvacuated,
  movesOf,
} from '../moves/evacuation.ts'
import { addressOf, needsAssignedServer, refuseMove, serverNameIn } from '../moves/move.ts'
import {
  chooseServer,
  moveChange,
  moveKind,
  noNamesakes,
  readNamesakes,
  readServer,
  SeveralServers,
  serversMeant,
} from '../moves/move-change.ts'
import type { Access } from '../requests/access.ts'
import type { Catalog } from '../requests/catalog.ts'
import { type CommandSubmit, createChooseOne, createOpenOffer, type Filling, submitFromCommand, submitFromForm } from '../requests/forms.ts'
import type { Store } from '../requests/store.ts'
import type { Submit } from '../requests/submit.ts'
import { context, input, modal, noticeView, oldNotes, option, problemBlocks, reasonIn, wholeSection } from '../slack/blocks.ts'
import type { Command, CommandCall, GivenWords } from '../slack/commands.ts'
import { Refusal, toUserWords } from '../slack/errors.ts'
import { fillForm, refuseForm } from '../slack/forms.ts'
import { type NameSource, withSuggestions, wrongUsage } from '../slack/help.ts'
import type { Choices, Click, OptionsQuery, Submission, SubmissionAnswer, Ticked } from '../slack/interactions.ts'
import { readMetadata, writeMetadata } from '../slack/payloads.ts'
import { candidatesOf, checkboxes, externalSelect, isChoice, keepChoice, mostCheckboxes, offer, preset } from '../slack/pickers.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mrkdwn, phraseWords, quotedTitle } from '../slack/text.ts'
import { type Pair, readPair } from '../slack/typed-words.ts'
import type { Message } from '../slack/web-api.ts'
import type { Feature, FeatureDefinition } from './feature.ts'

/** The addresses of a server, as the form offers them. */
export interface OfferedAddresses {
  serverId: string
  serverName: string
  offered: { elasticIpId: string; address: string; seenAgoMs?: number | undefined; isTicked: boolean }[]
  /** Addresses that cannot be moved, and why. */
  cannotMove: { elasticIpId: string; address: string; finding: Finding }[]
  /** How long it takes until all of them are sent at the account's limit, in ms, and that limit. Absent if one minute is enough. */
  sending?: { takesMs: number; perMinute: number } | undefined
  /** The BGP addresses that the server may announce. */
  bgp: string[]
  /** Set if they are from an earlier list. */
  old?: Missing['old']
  /** The last change of a server that has no address to move, or of the addresses that are no longer there, if Lockkeeper made one. */
  lastMove?: LastMove | undefined
}

/** An ended request, with the address of its message. */
export interface LastMove extends LinkedRequest {
  title: Phrase
  /** In ms since 1970. */
  endedAt: number
}

interface FindLastMoveParts {
  store: Pick<Store, 'lastChangesOf'>
  catalog: Pick<Catalog, 'titleOf'>
  change: Pick<Change<EvacuationInput, EvacuationFacts>, 'resource' | 'items'>
  linkTo: (request: Request) => string | undefined
}

/** The shared copy of the list of servers. */
type Copies = Pick<Inventory, 'servers' | 'isShort'>

/** What is no longer there: addresses that left a server, or all that the server had. */
interface Gone {
  serverId: string
  elasticIpIds: string[]
}

/**
 * Creates the search for the newest change of the addresses that are gone, or of their server if none is known. It only explains why they are
 * gone, so a failure finds nothing.
 */
function createFindLastMove({ store, catalog, change, linkTo }: FindLastMoveParts) {
  return async function lastMoveOf({ serverId, elasticIpIds }: Gone): Promise<LastMove | undefined> {
    const ofAddress = (elasticIpId: string) => change.items?.change.resource({ elasticIpId, serverId }) ?? []
    const resources = elasticIpIds.length > 0 ? elasticIpIds.flatMap(ofAddress) : [change.resource({ serverId, targetId: '' })]
    const found = await store.lastChangesOf(resources).catch(() => new Map<string, Request>())
    const ended = [...found.values()].flatMap((request) => (request.endedAt === undefined ? [] : [{ request, endedAt: request.endedAt }]))
    const [newest] = ended.toSorted((a, b) => b.endedAt - a.endedAt)
    if (!newest) return undefined
    const { request, endedAt } = newest
    return { id: request.id, title: catalog.titleOf(request), endedAt, link: linkTo(request) }
  }
}
type FindLastMove = ReturnType<typeof createFindLastMove>

/** Says that a server has nothing to move, as far as it is known, and where it may have gone. */
function nothingWords(server: string, last: LastMove | undefined): Mrkdwn {
  const nothing = mrkdwn`:warning: Nothing to move. The account shows no Elastic IPs on ${code(server)}, and Lockkeeper saw none there in the past 24 h.`
  return joinMrkdwn([nothing, ...lastMoveWords(last)], ' ')
}

/** `Last change: “Evacuate web-1 → web-2 (4 Elastic IPs)”, ended 2:13 PM (request b7e23ec2).` Empty if there is none. */
function lastMoveWords(last: LastMove | undefined): Mrkdwn[] {
  return last ? [mrkdwn`Last change: ${quotedTitle(last.title)}, ended ${dateTime(last.endedAt)} (${requestLink(last)}).`] : []
}

/**
 * Says what became of the addresses of an earlier request, and what moved them last, if none of them is on the server anymore. A form would
 * offer nothing to choose, and another target would not change that. Returns undefined if the form has something to offer.
 */
function nothingLeftView({ serverName, offered, cannotMove, lastMove }: OfferedAddresses): ModalView | undefined {
  if (offered.length > 0 || cannotMove.length === 0 || !cannotMove.every(isGone)) return undefined
  const words = mrkdwn`No address of this request is on ${code(serverName)} anymore:`
  return noticeView(joinMrkdwn([words, ...cannotMove.map(lineOf), ...lastMoveWords(lastMove)], '\n'), 'Nothing to move')
}

/** Says which addresses are no longer on the server, what moved them last, and which stay because they can't be moved. */
function cannotMoveWords({ cannotMove, serverName, lastMove }: OfferedAddresses): Mrkdwn {
  const [gone, stuck] = [cannotMove.filter(isGone), cannotMove.filter((each) => !isGone(each))]
  return joinMrkdwn(
    [
      ...(gone.length > 0 ? [mrkdwn`*No longer on ${code(serverName)}:*`, ...gone.map(lineOf), ...lastMoveWords(lastMove)] : []),
      ...(stuck.length > 0 ? [mrkdwn`*Left out, because they can't be moved:*`, ...stuck.map(lineOf)] : []),
    ],
    '\n',
  )
}

function lineOf(each: OfferedAddresses['cannotMove'][number]): Mrkdwn {
  const now = nowOn(each)
  return now === undefined ? mrkdwn`•  ${explainEvacuation(each.finding)?.why ?? each.address}` : mrkdwn`•  ${each.address} (on ${now})`
}

/** Whether an address is on another server by now, or is no longer on the account. */
function isGone(each: OfferedAddresses['cannotMove'][number]): boolean {
  return nowOn(each) !== undefined || each.finding.code === 'no-elastic-ip'
}

/** The server that an address is on by now, if it isn't the one that is evacuated. */
function nowOn({ finding }: OfferedAddresses['cannotMove'][number]): string | undefined {
  const known = EvacuationFinding.safeParse(finding)
  return known.success && known.data.code === 'not-on-server' ? known.data.now : undefined
}

/** Reads of single addresses that run at the same time. They are needed only for addresses that the list lacks. */
const parallelReads = mostEvacuated

interface EvacuationReadsParts {
  accountApi: Pick<AccountApi, 'elasticIps' | 'servers'>
  /** The lists that are shared, for requests and forms. */
  copies?: (Copies & Pick<Inventory, 'elasticIps'>) | undefined
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
type ReadAddresses = ReturnType<typeof createReadAddresses>

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
    const [app, options] = [
      { account: accountApi, lists: copies },
      { signal, shared: forRequest },
    ]
    const [addresses, target, shown] = await Promise.all([
      readAddresses(serverId, { elasticIpIds, isStrict: forRequest, signal }),
      readOrRefuse(
        () => readServer(app, targetId, options),
        () => refuseMove({ code: 'no-server', serverId: targetId, name: serverNameIn(earlier, targetId) }),
      ),
      // People evacuate servers that are gone, so the server does not have to be readable.
      forRequest ? readServer(app, serverId, options).catch(() => undefined) : undefined,
    ])
    const isNeeded =
      !forRequest && addresses.all.some((each) => each.server?.id === serverId && needsAssignedServer({ elasticIp: each, target }))
    const source = isNeeded ? await accountApi.servers.get(serverId, { signal }).catch(() => undefined) : shown
    const namesakes = forRequest && target ? await readNamesakes(app, target, signal) : noNamesakes
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

interface Wanted {
  serverId: string
  /** The server that they are to be moved to, if it is chosen. */
  targetId?: string | undefined
  /** The addresses that were ticked before. Absent: all that were seen recently are ticked. */
  ticked?: string[] | undefined
}

interface AddressesParts {
  accountApi: Pick<AccountApi, 'servers'>
  copies?: Copies
  readAddresses: ReadAddresses
  lastMoveOf: FindLastMove
  /** What the account allows. */
  writesPerMinute: number
}

/** Creates the function that reads which addresses of a server can be moved. Throws as the reads of the account API do. */
export function createOfferAddresses({ accountApi, copies, readAddresses, lastMoveOf, writesPerMinute }: AddressesParts) {
  return async function offerAddresses({ serverId, targetId, ticked }: Wanted, signal: AbortSignal): Promise<OfferedAddresses> {
    const known = async (id: string | undefined) =>
      id === undefined ? undefined : readServer({ account: accountApi, lists: copies }, id, { shared: true, signal }).catch(() => undefined)
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
type OfferAddresses = ReturnType<typeof createOfferAddresses>

/** Offers the addresses of an earlier request: those that are to be moved, ticked, and those that its requester left out. */
function requestedAddresses({ from, items, leftOut, bgp = [] }: EvacuationFacts, elasticIpIds: string[] | undefined): OfferedAddresses {
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
function stillRequested(now: OfferedAddresses, { offered, cannotMove }: OfferedAddresses): OfferedAddresses {
  const requested = new Set([...offered, ...cannotMove].map(({ elasticIpId }) => elasticIpId))
  const isRequested = ({ elasticIpId }: { elasticIpId: string }) => requested.has(elasticIpId)
  return { ...now, offered: now.offered.filter(isRequested), cannotMove: now.cannotMove.filter(isRequested) }
}

/** Reads `<server> [to] <target>`. Neither contains a comma, so a comma without a space separates them too. */
function readEvacuation(args: string[]): Pair {
  return readPair(args.flatMap((word) => word.split(',')).filter((word) => word !== ''))
}

/** Whether an evacuation is complete. One with too many words counts as complete, so that it is refused. */
function isWholeEvacuation(args: string[]): boolean {
  const { first, second } = readEvacuation(args)
  return first !== undefined && second !== undefined
}

/** The id of the buttons for the targets of one name. */
const evacuateToThisOne = 'evacuate-to-this-one'

/** `14 Elastic IPs` */
function addressCount(count: number): string {
  return count === 1 ? '1 Elastic IP' : `${count} Elastic IPs`
}

/** Says how the command is used. `rest` are the words that are too many. */
function usage(name: string, rest: string[]): Mrkdwn {
  const words = mrkdwn`Usage: ${code(`${name} evacuate <server> <target>`)}, or leave the target out to open a form. Put names with spaces in quotes.`
  return wrongUsage(words, rest)
}

/** Refuses a form with more addresses than one request moves. */
function tooManyTicked(count: number): Mrkdwn {
  return mrkdwn`One request moves up to ${mostEvacuated} addresses. You chose ${count}.`
}

/** Names in the thread what came to the server after the request, and is not moved. */
function remarkWords({ from, came = [] }: EvacuationFacts): string | undefined {
  if (came.length === 0) return undefined
  const listed = came.map(({ address }) => address).join(', ')
  const [were, areNot] = came.length === 1 ? ['was', "it isn't"] : ['were', "they aren't"]
  return `${listed} ${were} assigned to ${from.name} after the request, so ${areNot} moved.`
}

/** Asks which of the targets with the typed name is meant, with a button for each. */
function whichTarget(
  { source, targets }: { source: { id: string; name: string }; targets: Server[] },
  { typed, ...call }: TypedChoice & { typed: string },
): Message {
  return whichOne({
    question: mrkdwn`${targets.length} servers are called ${code(typed)}. Which one should the Elastic IPs of ${code(source.name)} move to?`,
    choices: targets.map((target) => ({
      words: serverWords(target),
      input: { serverId: source.id, targetId: target.id } satisfies EvacuationInput,
    })),
    actionId: evacuateToThisOne,
    byId: `${call.command} evacuate ${source.name} <id>`,
    ...call,
  })
}

/** The kind of the change. This name is public. */
const evacuationKind = 'ip.evacuate'

/** Creates the change that moves all Elastic IPs of a server to another server, with one write for each. */
export function createEvacuation(parts: EvacuationReadsParts): Change<EvacuationInput, EvacuationFacts> {
  const move = moveChange({ account: parts.accountApi, lists: parts.copies })

  return {
    kind: evacuationKind,
    label: 'evacuating a server',
    takesTime: true,
    input: EvacuationInput,
    inputOfAlert: (servers) => ({ ...servers, leavesOut: true }),
    facts: EvacuationFacts,
    resource: ({ serverId }) => `server:${serverId}`,
    moreResources: (_, facts) => movesOf(facts).map((item) => move.resource(move.input.parse(item.input))),
    project: (facts) => facts.project ?? 'unknown',
    preflight: createPreflight({ ...parts, readAddresses: createReadAddresses(parts) }),
    differences: evacuationDifferences,
    explain: explainEvacuation,
    complete: completeEvacuation,
    remark: remarkWords,
    leaves: ({ bgp, from }) => bgpWords(bgp, from.name),
    subject: ({ from }) => from.name,
    describe: describeEvacuation,
    items: {
      change: move,
      of: movesOf,
      leftOut: addressesLeftOut,
      narrow: (input, elasticIpIds) => ({ ...input, elasticIpIds }),
    },
    // The outcome is read item by item.
    observe: async () => ({ is: 'unclear' }),
    doneSentence,
    reverse: ({ elasticIpIds = [] }, { from, to, project, site, items }) => ({
      input: { serverId: to.id, targetId: from.id, elasticIpIds },
      facts: {
        from: to,
        to: from,
        ...(project ? { project } : {}),
        ...(site ? { site } : {}),
        items: items.map(({ elasticIpId, address }) => ({ elasticIpId, ...(address ? { address } : {}), from: to, to: from })),
        leftOut: [],
      },
      label: 'Move back',
    }),
    undoing: (facts) => ({ ...facts, isBack: true }),
  }
}

function doneSentence({ items, to }: EvacuationFacts): Phrase {
  const [only, ...others] = items
  return only && others.length === 0
    ? phrase`${addressOf(only)} is assigned to ${to.name}.`
    : phrase`${[addressCount(items.length)]} are assigned to ${to.name}.`
}

function describeEvacuation({ from, to, toAddress, project, site, items, isBack }: EvacuationFacts): Description {
  const moved = addressOrCount(items)
  return {
    title: isBack ? phrase`Move back ${moved}: ${from.name} → ${to.name}` : phrase`Evacuate ${from.name} → ${to.name} (${moved})`,
    facts: [
      { label: 'Project', value: project ? projectName(project) : 'not known' },
      { label: 'Site', value: site ?? 'not known' },
    ],
    ids: [
      ...(from.name === from.id ? [] : [{ label: 'From', value: from.id }]),
      ...(to.name === to.id ? [] : [{ label: 'To', value: to.id, detail: toAddress }]),
    ],
    underway: 'moving',
  }
}

/** Names a single address. Several are counted, and the message lists them. */
function addressOrCount(items: EvacuationFacts['items']): string | [words: string] {
  const [item] = items
  return item && items.length === 1 ? addressOf(item) : [addressCount(items.length)]
}

export const evacuationForm = {
  callbackId: 'evacuate-server',
  title: 'Evacuate a server',
  server: 'evacuate-from',
  target: 'evacuate-to',
  addresses: 'evacuate-addresses',
} as const

/** The button *Evacuate…* of a look-up. */
const evacuateThis = 'evacuate-this-server'

interface EvacuationFormView {
  metadata: string
  server?: PlainTextOption | undefined
  target?: PlainTextOption | undefined
  /** Read from the account, or the blocks of a form that was shown before. */
  addresses?: OfferedAddresses | KnownBlock[] | undefined
  reason?: string | undefined
  /** Why the form was refused. Shown on top, above what was entered. */
  problem?: Mrkdwn | undefined
}

export function evacuationModal({ metadata, server, target, addresses, reason, problem }: EvacuationFormView): ModalView {
  const purpose = purposeOf(metadata, [server?.value, target?.value], evacuationForm.title)
  return modal({
    callbackId: evacuationForm.callbackId,
    title: purpose.title,
    submit: 'Request approval',
    metadata,
    blocks: [
      ...problemBlocks(problem),
      serverSelect(evacuationForm.server, 'Server', 'Its Elastic IPs are moved to another server.', server),
      serverSelect(evacuationForm.target, 'Target', 'Must be in the same project and site.', target),
      ...(Array.isArray(addresses) ? addresses : addresses ? addressBlocks(addresses) : []),
      ...reasonField(metadata, reason, purpose),
    ],
  })
}

/** Slack sends each choice as a click, because the offered addresses depend on both servers. */
function serverSelect(id: string, label: string, hint: string, initialOption: PlainTextOption | undefined): KnownBlock {
  const placeholder = 'Choose a server'
  return input({
    blockId: id,
    label,
    hint,
    dispatchAction: true,
    element: externalSelect({ actionId: id, placeholder, initialOption }),
  })
}

const addressPrefix = `${evacuationForm.addresses}:`

/** The most groups that fit into a form. The other addresses need another request. */
const mostGroups = 10

function addressBlocks(addresses: OfferedAddresses): KnownBlock[] {
  const { serverId, serverName, offered, cannotMove, bgp, lastMove, old, sending } = addresses
  const leaves = bgpWords(bgp, serverName)
  const staying = leaves ? wholeSection(phraseWords(leaves)) : []
  if (offered.length + cannotMove.length === 0) return [...wholeSection(nothingWords(serverName, lastMove)), ...staying]
  const groups = Array.from({ length: Math.min(mostGroups, Math.ceil(offered.length / mostCheckboxes)) }, (_, index) =>
    offered.slice(index * mostCheckboxes, (index + 1) * mostCheckboxes),
  )
  const left = offered.length - groups.flat().length
  const notes = [
    ...context(oldNotes({ old })),
    ...(left > 0 ? context([mrkdwn`${left} more addresses don't fit in here. Move them with another request.`]) : []),
    ...(offered.length > mostEvacuated ? context([mrkdwn`One request moves up to ${mostEvacuated} addresses.`]) : []),
    ...(sending
      ? context([mrkdwn`Takes about ${formatDuration(sending.takesMs)}: the account allows ${sending.perMinute} changes a minute.`])
      : []),
    ...(cannotMove.length > 0 ? wholeSection(cannotMoveWords(addresses)) : []),
    ...staying,
  ]
  return [
    ...groups.map((group, index) => addressGroup(group, `${addressPrefix}${serverId}:${index}`, index, groups.length > 1)),
    ...notes.map((note, index) => ({ ...note, block_id: `${addressPrefix}${serverId}:note-${index}` })),
  ]
}

const KeptBlock = z.looseObject({ type: z.string(), block_id: z.string().startsWith(addressPrefix) })
const KeptOptions = z.array(z.looseObject({ value: z.string() }))

/**
 * Returns the blocks with the addresses of a form that was sent, as they were ticked. They are not read again, because the person may not
 * have seen new ones. They are not left out, because a form without addresses moves all of them.
 */
function keptAddresses(blocks: unknown[], ticked: Ticked): KnownBlock[] {
  return blocks.flatMap((block) => {
    const { data } = KeptBlock.safeParse(block)
    if (!data) return []
    const { initial_options: _, ...element } = z.looseObject({}).catch({}).parse(data.element)
    const initial = KeptOptions.catch([])
      .parse(element.options)
      .filter(({ value }) => ticked[data.block_id]?.includes(value))
    const shown = data.type === 'input' ? { element: { ...element, ...(initial.length > 0 ? { initial_options: initial } : {}) } } : {}
    return [{ ...data, ...shown } as unknown as KnownBlock]
  })
}

function addressGroup(group: OfferedAddresses['offered'], blockId: string, index: number, isOneOfSeveral: boolean): KnownBlock {
  const options = group.map(({ elasticIpId, address, seenAgoMs }) =>
    option({
      text: address,
      value: elasticIpId,
      ...(seenAgoMs === undefined ? {} : { description: `No server shown. Seen here ${formatAge(seenAgoMs)} ago.` }),
    }),
  )
  return input({
    blockId,
    label: index === 0 ? 'Addresses to move' : 'More addresses',
    // Slack would ask for at least one address of each group.
    optional: isOneOfSeveral,
    element: checkboxes({ actionId: evacuationForm.addresses, options, ticked: options.filter((_, at) => group[at]?.isTicked) }),
  })
}

/** Returns the ids of the blocks with addresses to tick. */
function addressGroupIds(ticked: Ticked): string[] {
  return Object.keys(ticked).filter((blockId) => blockId.startsWith(addressPrefix))
}

/** Returns the ticked addresses, each once. Undefined if the form showed none to tick. */
function tickedAddresses(ticked: Ticked): string[] | undefined {
  const groups = addressGroupIds(ticked)
  return groups.length === 0 ? undefined : [...new Set(groups.flatMap((blockId) => ticked[blockId] ?? []))]
}

/** A form opens or changes within this time, even if the account API is slow. */
const readMs = 1_200

interface FormParts {
  submit: Submit
  change: Change<EvacuationInput, EvacuationFacts>
  offerAddresses: OfferAddresses
}

type Chosen = Pick<EvacuationFormView, 'server' | 'target'> & { ticked?: string[] | undefined }

/** Creates the form of an evacuation: `formFor` shows it for chosen servers, and `submitForm` requests the evacuation. */
export function createEvacuationForm({ submit, change, offerAddresses }: FormParts) {
  /** Shows the addresses of the chosen server. Without them, the form moves all that the server has. */
  async function formFor(view: EvacuationFormView, { server, target, ticked }: Chosen): Promise<ModalView> {
    const filled = { ...view, metadata: withServer(view.metadata, server?.value), server, target }
    if (server?.value === undefined) return evacuationModal(filled)
    const read = await readFor({ serverId: server.value, targetId: target?.value, ticked })
    if (!('problem' in read)) return evacuationModal({ ...filled, addresses: read })
    return evacuationModal({ ...filled, problem: view.problem ?? read.problem })
  }

  async function readFor(wanted: Wanted): Promise<OfferedAddresses | { problem: Mrkdwn }> {
    const late = { problem: mrkdwn`Couldn't read the addresses of this server in time. Choose it again to see them.` }
    try {
      return await withinOr(readMs, offerAddresses(wanted, AbortSignal.timeout(readMs)), late)
    } catch (error) {
      const problem = toUserWords(error)
      if (problem === undefined) throw error
      return { problem }
    }
  }

  /** Shows a form filled from an earlier request, without a read. */
  function filledForm(metadata: string, filling: Filling): ModalView {
    return evacuationModal(viewOf(metadata, filling).view)
  }

  /** Shows the same with the addresses as the account shows them now, because one of them may have moved to another server since. */
  async function freshForm(metadata: string, filling: Filling): Promise<ModalView> {
    const { input, requested, view } = viewOf(metadata, filling)
    const ticked = requested.offered.filter(({ isTicked }) => isTicked).map(({ elasticIpId }) => elasticIpId)
    const now = await readFor({ serverId: input.serverId, targetId: input.targetId, ticked })
    if ('problem' in now) return evacuationModal(view)
    // The earlier request itself explains nothing.
    const { undoes, repeats } = readMetadata(metadata) ?? {}
    const isOther = now.lastMove !== undefined && now.lastMove.id !== (undoes ?? repeats)?.id
    const addresses = { ...stillRequested(now, requested), lastMove: isOther ? now.lastMove : undefined }
    return nothingLeftView(addresses) ?? evacuationModal({ ...view, addresses })
  }

  /** Shows the form for a server as a list names it. Its addresses appear once the target is chosen. */
  function formForServer(metadata: string, { id, text }: { id: string; text: string }): ModalView {
    return evacuationModal({ metadata: withServer(metadata, id), server: preset({ text, value: id }) })
  }

  /** Shows the addresses of a server that was chosen in the form, or which of them can be moved to the target. */
  async function serversChosen({ view }: Click): Promise<void> {
    if (!view) return
    const server = keepChoice(view.chosen[evacuationForm.server])
    const target = keepChoice(view.chosen[evacuationForm.target])
    const isSame = server?.value === readMetadata(view.metadata)?.extra
    const ticked = isSame ? tickedAddresses(view.ticked) : undefined
    await view.update(await formFor({ metadata: view.metadata, reason: reasonIn(view.values) }, { server, target, ticked }))
  }

  async function submitForm(submission: Submission): Promise<SubmissionAnswer> {
    const { values, chosen, ticked } = submission
    const reason = reasonIn(values)
    const [serverId = '', targetId = ''] = [values[evacuationForm.server], values[evacuationForm.target]]
    const kept: Record<'server' | 'target', PlainTextOption | undefined> = {
      server: keepChoice(chosen[evacuationForm.server]),
      target: keepChoice(chosen[evacuationForm.target]),
    }
    const addresses = keptAddresses(submission.blocks, ticked)
    const again = (problem: Mrkdwn) => evacuationModal({ metadata: submission.metadata, ...kept, addresses, reason, problem })
    const elasticIpIds = tickedAddresses(ticked)
    const [firstGroup] = addressGroupIds(ticked)
    // Without addresses, an evacuation moves all that the server has, and the form showed that none of these can be moved.
    const noneLeft = !elasticIpIds && addresses.length > 0 ? mrkdwn`None of these addresses can be moved.` : undefined
    const refused = refuseForm(
      {
        [evacuationForm.server]: isChoice(serverId) ? noneLeft : mrkdwn`Choose a server.`,
        [evacuationForm.target]: isChoice(targetId) ? undefined : mrkdwn`Choose a target.`,
        ...(elasticIpIds && firstGroup !== undefined ? { [firstGroup]: wrongCount(elasticIpIds.length) } : {}),
      },
      again,
    )
    if (refused) return refused
    const input = { serverId, targetId, ...(elasticIpIds ? { elasticIpIds } : {}) }
    const blockId = (error: unknown) => (isAboutAddresses(error) && firstGroup ? firstGroup : evacuationForm.target)
    return submitFromForm(submit, submission, { change, input, reason, blockId, again })
  }

  return { formFor, formForServer, filledForm, freshForm, serversChosen, submitForm }
}
type EvacuationForm = ReturnType<typeof createEvacuationForm>

/** Returns what a form shows that is filled from an earlier request. */
function viewOf(metadata: string, { reason, problem, title, ...filling }: Filling) {
  const [input, facts] = [EvacuationInput.parse(filling.input), EvacuationFacts.parse(filling.facts)]
  const requested = requestedAddresses(facts, input.elasticIpIds)
  const view: EvacuationFormView = {
    metadata: withServer(withPurpose(metadata, [input.serverId, input.targetId], title), input.serverId),
    server: preset({ text: facts.from.name, value: input.serverId }),
    target: preset({ text: facts.to.name, value: input.targetId }),
    addresses: requested,
    reason,
    problem,
  }
  return { input, requested, view }
}

/** Each address that the account does not list for the server is read by itself, so their number is limited. */
function wrongCount(ticked: number): Mrkdwn | undefined {
  if (ticked === 0) return mrkdwn`Choose at least one address.`
  return ticked > mostEvacuated ? tooManyTicked(ticked) : undefined
}

/** Adds the chosen server to the metadata of a form: Slack does not send it with an option load (slackapi/bolt-js 1146). */
function withServer(metadata: string, serverId: string | undefined): string {
  const known = readMetadata(metadata)
  return known ? writeMetadata({ ...known, extra: serverId }) : metadata
}

function isAboutAddresses(error: unknown): boolean {
  return error instanceof CheckFailed && error.finding.code === 'addresses-cannot-move'
}

interface EvacuateThisParts {
  inventory: Pick<Inventory, 'servers'>
  access: Pick<Access, 'gateForm'>
  formFor: EvacuationForm['formFor']
}

/** The longest wait for the name that the filled form shows. Without it the form shows the id. */
const nameMs = 1_000

/** Creates the button *Evacuate…* of a look-up. */
function createEvacuateThis({ inventory, access, formFor }: EvacuateThisParts) {
  return createOpenOffer({
    access,
    kind: evacuationKind,
    form: async ({ id }, metadata) => {
      const listed = findInList(inventory.servers(), (server) => server.id === id).catch(() => undefined)
      const server = await withinOr(nameMs, listed, undefined)
      return formFor({ metadata }, { server: preset({ text: server?.hostname ?? id, value: id }) })
    },
  })
}

/** The server to evacuate, as far as it is known. */
interface Source {
  id: string
  name: string
  project: ProjectRef | undefined
}

interface FindSourceParts {
  accountApi: Pick<AccountApi, 'servers'>
  copies?: Copies
  seen: SeenAssignments
}

/**
 * Creates the function that finds a server by its id or hostname. A server that the account no longer shows is found if Lockkeeper saw it
 * before. Throws UnknownName if there is none, and UserError if there are several.
 */
function createFindSource({ accountApi, copies, seen }: FindSourceParts) {
  return async function findSource(typed: string, options: { signal?: AbortSignal } = {}): Promise<Source> {
    const found = await findServers({ account: accountApi, lists: copies }, typed, options.signal)
    if (found.length > 0) {
      const { id, hostname, label, project } = chooseServer(typed, found, undefined)
      return { id, name: hostname ?? label ?? id, project }
    }
    const isTyped = ({ serverId, serverName }: { serverId: string; serverName: string }) =>
      serverId === typed || serverName.toLowerCase() === typed.toLowerCase()
    const servers = new Map((await seen.find(isTyped)).map(({ serverId, serverName }) => [serverId, serverName]))
    const [only] = servers
    if (!only || servers.size > 1) throw new UnknownName('server', typed, serverNameProblem(typed))
    return { id: only[0], name: only[1], project: undefined }
  }
}
type FindSource = ReturnType<typeof createFindSource>

interface FillParts {
  findSource: FindSource
  formFor: EvacuationForm['formFor']
  names: (command: string) => Record<string, NameSource>
}

/** Creates the form of an incomplete evacuation, filled with the server that was typed and its addresses. */
function createFillEvacuation({ findSource, formFor, names }: FillParts) {
  async function found(typed: string) {
    return findSource(typed).catch((error: unknown) => {
      throw error instanceof SeveralServers ? new Refusal(chooseBelow(typed, error.servers.length)) : error
    })
  }

  return async function fillEvacuation(metadata: string, { args, command, problem }: GivenWords): Promise<ModalView> {
    const { first: typed } = readEvacuation(args)
    if (typed === undefined) return evacuationModal({ metadata, problem })
    const lookUp = withSuggestions(found(typed), names(command)).then(({ id, name }) =>
      formFor({ metadata }, { server: preset({ text: name, value: id }) }),
    )
    return fillForm(typed, lookUp, (filled) => ('problem' in filled ? evacuationModal({ metadata, problem: filled.problem }) : filled))
  }
}

/** Creates the options of the form: every server to evacuate, and as its target the servers of its project and site. */
function createServerOptions(inventory: Pick<Inventory, 'servers'>) {
  async function offerSources({ typed }: OptionsQuery): Promise<Choices> {
    const { items, ...missing } = await asFarAsRead(inventory.servers())
    return offer([...candidatesOf(items, servers.candidate).values()], typed, missing)
  }

  async function offerTargets({ typed, metadata }: OptionsQuery): Promise<Choices> {
    const { items, ...missing } = await asFarAsRead(inventory.servers())
    const sourceId = readMetadata(metadata)?.extra
    const source = isChoice(sourceId) ? items.find(({ id }) => id === sourceId) : undefined
    const fits = [...candidatesOf(items, servers.candidate)].filter(([target]) => {
      if (target.id === sourceId) return false
      if (!source) return true
      const sites = { location: undefined, assigned: source.site, target: target.site }
      return sameProject(source.project, target.project) !== false && sameSite(sites) !== false
    })
    return offer(
      fits.map(([, candidate]) => candidate),
      typed,
      missing,
    )
  }

  return { offerSources, offerTargets }
}

/** How often Lockkeeper lists all Elastic IPs, so that it knows which addresses a server had before it died. */
const snapshotMs = 5 * 60_000

interface EvacuateServerParts extends CommandSubmit {
  accountApi: AccountApi
  inventory: Inventory
  access: Pick<Access, 'gateForm'>
  seen: SeenAssignments
  store: Pick<Store, 'lastChangesOf'>
  catalog: Pick<Catalog, 'titleOf'>
  linkTo: (request: Request) => string | undefined
  writesPerMinute: number
}

/** `/infra evacuate`: requests to move all Elastic IPs of a server to another one, by arguments or by a form. */
export const evacuateServer = {
  kinds: [evacuationKind],
  bundles: { [evacuationKind]: moveKind },
  create,
} satisfies FeatureDefinition

function create({
  accountApi,
  inventory,
  submit,
  openForm,
  access,
  seen,
  store,
  catalog,
  linkTo,
  writesPerMinute,
}: EvacuateServerParts): Feature {
  const offerOf = { of: 'server', label: 'Evacuate…', actionId: evacuateThis } satisfies Offer
  const change = { ...createEvacuation({ accountApi, copies: inventory, seen }), offer: offerOf }
  const findSource = createFindSource({ accountApi, copies: inventory, seen })
  const offerAddresses = createOfferAddresses({
    accountApi,
    copies: inventory,
    readAddresses: createReadAddresses({ accountApi, copies: inventory, seen }),
    lastMoveOf: createFindLastMove({ store, catalog, change, linkTo }),
    writesPerMinute,
  })
  const { formFor, formForServer, filledForm, freshForm, serversChosen, submitForm } = createEvacuationForm({
    submit,
    change,
    offerAddresses,
  })
  const { offerSources, offerTargets } = createServerOptions(inventory)

  const names = (command: string): Record<string, NameSource> => ({
    server: {
      names: async () => (await asFarAsRead(inventory.servers())).items.map(({ hostname }) => hostname),
      list: `${command} servers`,
    },
  })

  async function run(call: CommandCall): Promise<void> {
    const { first, second, rest } = readEvacuation(call.args)
    const { reason, origin, answer } = call.slashCommand
    const { command } = origin
    if (first === undefined || second === undefined || rest.length > 0) {
      throw new Refusal(usage(command, rest))
    }
    const { source, targets } = await withSuggestions(resolve(first, second, AbortSignal.timeout(8_000)), names(command))
    const [target, ...others] = targets
    if (others.length > 0) return answer.ephemeral(whichTarget({ source, targets }, { typed: second, command, reason }))
    const input = { serverId: source.id, targetId: target.id }
    await submitFromCommand({ submit, openForm }, call, { change, input, form: filledForm })
  }

  async function resolve(typedServer: string, typedTarget: string, signal: AbortSignal) {
    // If neither exists, the error names the server to evacuate, because people type it first.
    const targets = findServers({ account: accountApi, lists: inventory }, typedTarget, signal)
    targets.catch(() => {})
    const source = await findSource(typedServer, { signal })
    return { source, targets: serversMeant(typedTarget, await targets, source.project) }
  }

  const command: Command = {
    words: 'evacuate',
    usage: '[<server> [<target>]]',
    group: 'Change',
    summary: 'Move all Elastic IPs of a server to another one',
    details: mrkdwn`One request and one approval for all addresses that the server has, up to 50. Both servers by hostname or id, in the same project and site. Leave the target out to choose the addresses in a form. ${code('to')} between the two is fine.`,
    examples: ['web-1 web-2', 'web-1 to web-2', 'web-1'],
    need: evacuationKind,
    form: createFillEvacuation({ findSource, formFor, names }),
    isComplete: isWholeEvacuation,
    button: { text: 'Evacuate', actionId: 'open-evacuate-server', opens: evacuationForm.title },
    prepare: () => inventory.prefetch('servers'),
    run,
  }

  return {
    commands: [command],
    changes: [change],
    forms: { [evacuationKind]: filledForm },
    freshForms: { [evacuationKind]: freshForm },
    itemActions: [{ of: 'server', kind: evacuationKind, label: 'Evacuate…', form: formForServer }],
    clicks: {
      [evacuationForm.server]: serversChosen,
      [evacuationForm.target]: serversChosen,
      [evacuateToThisOne]: createChooseOne({ submit, openForm, change, form: filledForm }),
      [evacuateThis]: createEvacuateThis({ inventory, access, formFor }),
    },
    submissions: { [evacuationForm.callbackId]: submitForm },
    options: { [evacuationForm.server]: offerSources, [evacuationForm.target]: offerTargets },
    repeated: [
      {
        name: 'assignments',
        everyMs: snapshotMs,
        // The process that reads a complete list of Elastic IPs stores what it shows. One that is younger than 10 s has been stored.
        run: (signal) => unlessAborted(signal, inventory.prefetch('elasticIps')),
      },
    ],
  }
}
