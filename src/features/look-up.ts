import { BlockList, isIP, isIPv4 } from 'node:net'
import type { KnownBlock, ModalView } from '@slack/web-api'
import { asFarAsRead } from '../account/resource.ts'
import type { App } from '../app.ts'
import { type ElasticIp, isBgp, type Server, type VirtualMachine } from '../domain/account.ts'
import type { Offer, OfferedThing, ThingKind } from '../domain/change.ts'
import { ApiError, type Missing } from '../domain/errors.ts'
import { isOpen, type Request } from '../domain/request.ts'
import { type Phrase, withoutInvisible, withoutOwner } from '../domain/text.ts'
import type { FeatureDefinition } from '../kit/change-feature.ts'
import { elasticIps, servers, virtualMachines } from '../kit/things.ts'
import { stateWithCount } from '../messages/items.ts'
import { endingWords } from '../messages/refusals.ts'
import { canMoveTo, moveWords, whyNotMovable } from '../moves/move.ts'
import type { Store } from '../requests/store.ts'
import { button, context, divider, modal, sectionWithButton, wholeSection } from '../slack/blocks.ts'
import type { Shortcut, ShortcutMessage } from '../slack/interactions.ts'
import { oldNotes } from '../slack/listing.ts'
import { writeMetadata } from '../slack/payloads.ts'
import { placeOf } from '../slack/pickers.ts'
import { code, joinMrkdwn, link, type Mrkdwn, mention, mrkdwn, phraseWords, someTexts } from '../slack/text.ts'

interface Lists {
  elasticIps: ElasticIp[]
  servers: Server[]
  virtualMachines: VirtualMachine[]
}

/** A thing on the account that a message names. */
interface Thing {
  kind: ThingKind
  id: string
}

/** How the ids of the service begin (`ueip_`: BGP), followed by letters and digits. Anything else is not read by its id. */
const ids: [ThingKind, RegExp][] = [
  ['elastic-ip', /^u?eip_[A-Za-z0-9]{1,40}$/],
  ['server', /^sv_[A-Za-z0-9]{1,40}$/],
  ['virtual-machine', /^vm_[A-Za-z0-9]{1,40}$/],
]

/**
 * Finds what the words name, in the order of the words. Ids must match exactly, and names and addresses whole, whatever their case. A word
 * that looks like an id counts although no list has it, because lists can be incomplete.
 */
export function findThings(words: string[], { elasticIps, servers, virtualMachines }: Lists): Thing[] {
  const places = new Map(words.toReversed().map((word, index) => [word.toLowerCase(), words.length - index]))
  const exact = new Set(words)
  const found: { thing: Thing; at: number }[] = []

  function look(kind: ThingKind, id: string, names: (string | undefined)[]): void {
    const at = [exact.has(id) ? id : undefined, ...names].flatMap((name) => places.get(name?.toLowerCase() ?? '') ?? [])
    if (at.length > 0) found.push({ thing: { kind, id }, at: Math.min(...at) })
  }

  for (const { id, address } of elasticIps) look('elastic-ip', id, [address.replace(/\/\d{1,3}$/, '')])
  for (const { id, hostname, primaryIpv4 } of servers) look('server', id, [hostname, primaryIpv4])
  for (const { id, name, primaryIpv4 } of virtualMachines) look('virtual-machine', id, [name, primaryIpv4])
  const listed = new Set(found.map(({ thing }) => thing.id))
  for (const word of words) {
    const [kind] = ids.find(([, pattern]) => pattern.test(word)) ?? []
    if (kind && !listed.has(word)) found.push({ thing: { kind, id: word }, at: places.get(word.toLowerCase()) ?? 0 })
  }
  return found.toSorted((a, b) => a.at - b.at).map(({ thing }) => thing)
}

/**
 * Returns the IPv4 addresses among the words that nothing on the account has. The lists must be whole. An address within the block of an
 * Elastic IP is on the account. IPv6 addresses are left out, because the lists don't show those that servers have of their own.
 */
export function missingAddresses(words: string[], { elasticIps, servers, virtualMachines }: Lists): string[] {
  const addresses = words.filter((word) => isIPv4(word))
  if (addresses.length === 0) return []
  const own = new Set([...servers, ...virtualMachines].map(({ primaryIpv4 }) => primaryIpv4))
  const elastic = new BlockList()
  for (const { address } of elasticIps) {
    const [start = '', prefix = '32'] = address.split('/')
    if (isIP(start) === 4 && /^\d{1,2}$/.test(prefix) && Number(prefix) <= 32) elastic.addSubnet(start, Number(prefix), 'ipv4')
  }
  return addresses.filter((address) => !own.has(address) && !elastic.check(address, 'ipv4'))
}

/** The open requests about each thing, by its id. `unread`: how many open requests this version cannot read. */
interface OpenRequests {
  about: Map<string, Request[]>
  unread: number
}

/** Finds the open requests about these things. */
export async function findOpenRequests(store: Pick<Store, 'findOpen'>, thingIds: string[]): Promise<OpenRequests> {
  if (thingIds.length === 0) return { about: new Map(), unread: 0 }
  const { requests, unreadable } = await store.findOpen()
  const namedIn = requests.map((request) => ({ request, ids: stringsIn([request.input, request.facts]) }))
  const about = thingIds.map((id) => [id, namedIn.filter(({ ids }) => ids.has(id)).map(({ request }) => request)] as const)
  return { about: new Map(about), unread: unreadable }
}

/**
 * Collects the strings of a request's content: every kind of change names its things by their ids there. Addresses that the request leaves
 * out do not count.
 */
function stringsIn(content: unknown[]): Set<string> {
  const found = new Set<string>()
  const left = [...content]
  while (left.length > 0) {
    const value = left.pop()
    if (typeof value === 'string') found.add(value)
    else if (typeof value === 'object' && value !== null)
      left.push(...Object.entries(value).flatMap(([name, member]) => (name === 'leftOut' ? [] : [member])))
  }
  return found
}

/** A thing as the account shows it. `gone`: it does not exist. `unread`: the account API did not answer. */
export type ThingNow = Thing &
  (
    | { is: 'gone' | 'unread' }
    /** `server`: the server that it is on, as far as it could be read. */
    | { is: 'elastic-ip'; elasticIp: ElasticIp; server: Server | undefined }
    /** `elasticIps`: undefined if they could not be read. */
    | { is: 'server'; server: Server; elasticIps: ElasticIp[] | undefined }
    | { is: 'virtual-machine'; machine: VirtualMachine }
  )

/** The longest time that the person waits for the account. */
const readMs = 8_000

interface LookUpLists extends Lists {
  /** Whether one of them was not read, or not to its end. */
  isIncomplete: boolean
  /** Whether every item with an id was read, as the account is now. */
  isWhole: boolean
  /** Whether the list of Elastic IPs was read. */
  hasElasticIps: boolean
  /** The oldest of those that are earlier copies. */
  old: Missing['old']
}

/** Reads the lists that are shared. Throws if none could be read. */
async function readLists({ lists }: App): Promise<LookUpLists> {
  const read = await Promise.allSettled([
    asFarAsRead(lists.elasticIps()),
    asFarAsRead(lists.servers()),
    asFarAsRead(lists.virtualMachines()),
  ])
  const [elasticIps, servers, virtualMachines] = read
  if (read.every(({ status }) => status === 'rejected') && elasticIps.status === 'rejected') throw elasticIps.reason
  const isIncomplete = read.some((each) => each.status === 'rejected' || each.value.cut !== undefined)
  return {
    elasticIps: elasticIps.status === 'fulfilled' ? elasticIps.value.items : [],
    servers: servers.status === 'fulfilled' ? servers.value.items : [],
    virtualMachines: virtualMachines.status === 'fulfilled' ? virtualMachines.value.items : [],
    isIncomplete,
    isWhole: !isIncomplete && read.every((each) => each.status === 'fulfilled' && !each.value.unreadable && !each.value.old),
    hasElasticIps: elasticIps.status === 'fulfilled',
    old: read.flatMap((each) => (each.status === 'fulfilled' && each.value.old) || []).toSorted((one, other) => other.agoMs - one.agoMs)[0],
  }
}

/** Finds the things in the lists, and reads those that the lists do not have. */
async function readNow(app: App, things: Thing[], lists: LookUpLists): Promise<ThingNow[]> {
  const signal = AbortSignal.timeout(readMs)
  const isAbsent = (error: unknown) => error instanceof ApiError && error.status === 404
  return Promise.all(
    things.map((thing) =>
      readOne(app, thing, lists, signal).catch((error: unknown): ThingNow => ({ ...thing, is: isAbsent(error) ? 'gone' : 'unread' })),
    ),
  )
}

async function readOne({ account }: App, thing: Thing, lists: LookUpLists, signal: AbortSignal): Promise<ThingNow> {
  const { id } = thing
  switch (thing.kind) {
    case 'elastic-ip': {
      const elasticIp = find(lists.elasticIps, id) ?? (await account.elasticIps.get(id, { signal }))
      const on = elasticIp.server?.id
      const server =
        on === undefined ? undefined : (find(lists.servers, on) ?? (await account.servers.get(on, { signal }).catch(() => undefined)))
      return { ...thing, is: 'elastic-ip', elasticIp, server }
    }
    case 'server': {
      const server = find(lists.servers, id) ?? (await account.servers.get(id, { signal }))
      const onServer = lists.elasticIps.filter((each) => each.server?.id === id)
      return { ...thing, is: 'server', server, elasticIps: lists.hasElasticIps ? onServer : undefined }
    }
    case 'virtual-machine': {
      const machine = find(lists.virtualMachines, id) ?? (await account.virtualMachines.get(id, { signal }))
      return { ...thing, is: 'virtual-machine', machine }
    }
  }
}

function find<Item extends { id: string }>(list: Item[], id: string): Item | undefined {
  return list.find((item) => item.id === id)
}

/** Says why an Elastic IP can't be moved to any server now. Undefined if it can be. */
function cannotMoveWords(elasticIp: ElasticIp): Mrkdwn | undefined {
  const finding = whyNotMovable(elasticIp)
  return finding && endingWords(moveWords(finding))
}

const kinds = { 'elastic-ip': elasticIps, server: servers, 'virtual-machine': virtualMachines }

/** The most Elastic IPs of one server that are named. */
const mostNamed = 10

/** Describes a thing as it is now. */
function thingLine(now: ThingNow): Mrkdwn {
  switch (now.is) {
    case 'gone':
      return mrkdwn`${code(now.id)}: no such ${kinds[now.kind].one} on the account.`
    case 'unread':
      return mrkdwn`${code(now.id)}: couldn't read this ${kinds[now.kind].one}. Try again in a minute.`
    case 'elastic-ip':
      return elasticIpLine(now.elasticIp, now.server)
    case 'server':
      return serverLine(now.server, now.elasticIps)
    case 'virtual-machine':
      return machineLine(now.machine)
  }
}

function elasticIpLine(elasticIp: ElasticIp, now: Server | undefined): Mrkdwn {
  const { id, address, status, server, project, site } = elasticIp
  const cannotMove = cannotMoveWords(elasticIp)
  const where = server ? mrkdwn`On ${code(server.hostname ?? server.id)}${statusOf(now)}` : mrkdwn`On no server, or its server isn't active`
  return lines([
    mrkdwn`*${code(address)}*  Elastic IP, ${status}`,
    ...(isBgp(elasticIp) ? [] : [where]),
    ...(cannotMove ? [cannotMove] : []),
    small([placeOf(project, slugOf(site)), id]),
  ])
}

function serverLine({ id, hostname, label, status, locked, primaryIpv4, project, site }: Server, elasticIps?: ElasticIp[]): Mrkdwn {
  const state = `server, ${status ?? 'status unknown'}${locked ? ', locked' : ''}`
  const labelled = label ? [mrkdwn`Label: ${code(label)}`] : []
  return lines([
    mrkdwn`*${code(hostname ?? id)}*  ${state}`,
    addressesLine(elasticIps),
    ...labelled,
    small([placeOf(project, slugOf(site)), primaryIpv4, id]),
  ])
}

function machineLine({ id, name, status, primaryIpv4, project, site }: VirtualMachine): Mrkdwn {
  return lines([
    mrkdwn`*${code(name ?? id)}*  virtual machine, ${status ?? 'status unknown'}`,
    small([placeOf(project, site), primaryIpv4, id]),
  ])
}

function addressesLine(elasticIps: ElasticIp[] | undefined): Mrkdwn {
  if (!elasticIps) return mrkdwn`Couldn't read its Elastic IPs.`
  if (elasticIps.length === 0) return mrkdwn`No Elastic IPs`
  const named = elasticIps.slice(0, mostNamed).map(({ address }) => code(address))
  const more = elasticIps.length > mostNamed ? mrkdwn` and ${elasticIps.length - mostNamed} more` : mrkdwn``
  return mrkdwn`Elastic IPs: ${joinMrkdwn(named, ', ')}${more}`
}

function statusOf(server: Server | undefined): string {
  if (!server) return " (couldn't read its status)"
  return ` (${server.status ?? 'status unknown'}${server.locked ? ', locked' : ''})`
}

function slugOf(site: { slug?: string | undefined; name?: string | undefined } | undefined): string | undefined {
  return site?.slug ?? site?.name
}

/** Shows facts from outside as code, so that nothing in them is markup. */
function small(parts: (string | undefined)[]): Mrkdwn {
  return joinMrkdwn(
    parts.filter((part) => part !== undefined && part !== '').map((part) => code(part ?? '')),
    '  ',
  )
}

function lines(parts: Mrkdwn[]): Mrkdwn {
  return joinMrkdwn(parts, '\n')
}

const title = 'Look up in Lockkeeper'

interface FoundThing {
  now: ThingNow
  requests: { request: Request; title: Phrase; link: string | undefined }[]
  offers: Offer[]
  /** The server that a move can be filled with: the only other one that the message names. */
  serverId: string | undefined
}

interface LookedUp {
  metadata: string
  things: FoundThing[]
  /** How many things were read. */
  read: number
  /** How many further things the message names. */
  left: number
  /** Addresses and ids that the message names and the account doesn't have. */
  notFound: string[]
  /** Whether a list of the account could not be read to its end. */
  isIncomplete: boolean
  /** Set if the account was read earlier. */
  old: Missing['old']
  /** How many open requests were not searched. */
  unread: number
}

function lookingUpView(): ModalView {
  return modal({ title, blocks: wholeSection(mrkdwn`Searching this message…`) })
}

/** Shows what a message names, as it is now, each with its open requests and its buttons. */
export function lookedUpView({ metadata, things, read, left, notFound, isIncomplete, old, unread }: LookedUp): ModalView {
  const notes = [
    ...oldNotes({ old }),
    ...(left > 0 ? [mrkdwn`The message names ${left} more. Only the first ${read} were looked up.`] : []),
    ...(isIncomplete ? [mrkdwn`:warning: Couldn't read every list of the account. The message may name more.`] : []),
    ...(unread > 0 && things.length > 0 ? [mrkdwn`:warning: ${unread} more open requests weren't searched.`] : []),
    ...(notFound.length > 0 ? [mrkdwn`Not found on the account: ${someTexts(notFound.map(code))}.`] : []),
  ]
  const blocks = things.length === 0 ? nothingFound : things.flatMap(thingBlocks)
  return modal({ title, metadata, blocks: [...blocks, ...context(notes)] })
}

const nothingFound = wholeSection(
  mrkdwn`This message names no Elastic IP, server or virtual machine of the account. I searched for addresses, hostnames and ids.`,
)

function thingBlocks({ now, requests, offers, serverId }: FoundThing, index: number): KnownBlock[] {
  const [offer] = now.is === 'gone' || isEmptyServer(now) || isStuck(now) ? [] : offers
  const value = JSON.stringify({ version: 1, id: now.id, ...(serverId ? { serverId } : {}) } satisfies OfferedThing)
  const line = thingLine(now)
  const shown = offer ? [sectionWithButton(line, button({ text: offer.label, actionId: offer.actionId, value }))] : wholeSection(line)
  return [...(index > 0 ? [divider()] : []), ...shown, ...requests.flatMap((each) => context([requestLine(each)]))]
}

/** Whether nothing can be moved away from it. The account can show no addresses of a server that is off, and they can still be there. */
function isEmptyServer(now: ThingNow): boolean {
  return now.is === 'server' && now.server.status === 'on' && now.elasticIps?.length === 0
}

/** Whether it is an Elastic IP that can't be moved. Its line says why. */
function isStuck(now: ThingNow): boolean {
  return now.is === 'elastic-ip' && cannotMoveWords(now.elasticIp) !== undefined
}

function requestLine({ request, title, link: address }: FoundThing['requests'][number]): Mrkdwn {
  const parts = [
    mrkdwn`Open request: ${phraseWords(withoutOwner(title, request.origin.userId))}, ${stateWithCount(request)}`,
    mrkdwn`requested by ${mention(request.origin.userId)}`,
    link(address, 'Open the request'),
  ]
  return joinMrkdwn(parts, '  ·  ')
}

/** The most that is searched in a message. Slack's longest message has 40,000 characters, and its text and its blocks say the same. */
const most = { characters: 100_000, nodes: 20_000, words: 5_000 } as const

/** The members of blocks, elements and attachments that people read. Ids and kinds are left out. */
const shownMembers = new Set(['text', 'title', 'value', 'fallback', 'pretext', 'footer', 'author_name', 'url', 'title_link', 'alt_text'])

/** Lists the words of a message in their order, each once: of its text, its blocks and its attachments. */
export function wordsIn({ text, blocks, attachments }: Pick<ShortcutMessage, 'text' | 'blocks' | 'attachments'>): string[] {
  const texts = [text, ...textsIn(blocks), ...textsIn(attachments)].join('\n').slice(0, most.characters)
  const pieces = withoutInvisible(withoutMarkup(texts)).split(/[^\p{L}\p{N}_.:-]+/u)
  return [...new Set(pieces.flatMap(wordsOf))].slice(0, most.words)
}

/** Collects the texts of nested blocks without recursion, because the nesting is from outside. */
function textsIn(nested: unknown[]): string[] {
  const texts: string[] = []
  const left: unknown[] = nested.toReversed()
  for (let nodes = 0; left.length > 0 && nodes < most.nodes; nodes += 1) {
    const node = left.pop()
    if (typeof node !== 'object' || node === null) continue
    if (Array.isArray(node)) {
      left.push(...node.slice(0, most.nodes).reverse())
      continue
    }
    const members = Object.entries(node)
    texts.push(...members.flatMap(([name, value]) => (typeof value === 'string' && shownMembers.has(name) ? [value] : [])))
    left.push(...members.map(([, value]) => value).reverse())
  }
  return texts
}

/** Replaces links by their address and their words, and entities by what was typed. Mentions and dates name nothing on the account. */
function withoutMarkup(text: string): string {
  return text
    .replace(/<[@#!][^<>]*>/g, ' ')
    .replace(/<([^<>|]*)\|([^<>]*)>/g, ' $1 $2 ')
    .replaceAll('&lt;', ' ')
    .replaceAll('&gt;', ' ')
    .replaceAll('&amp;', ' ')
}

/** Returns a piece without the punctuation around it, and what is before its port: `web-1` for `web-1:9100`. */
function wordsOf(piece: string): string[] {
  if (isIP(piece) !== 0) return [piece]
  const word = piece.replace(/^[._:-]+|[._:-]+$/g, '')
  const [, host] = /^([^:]+):\d{1,5}$/.exec(word) ?? []
  return [word, host ?? ''].filter((each) => each !== '')
}

/** The most things that are shown. Each one that the lists lack takes up to two reads of the account. */
const mostThings = 8

/** The message shortcut *Look up in Lockkeeper*: shows what a message names, as it is now on the account. */
export const lookUp: FeatureDefinition = {
  create: (app) => ({
    commands: [],
    shortcuts: {
      'look-up': {
        form: lookingUpView,
        // Everybody who may read here may look up, and that was checked when the shortcut arrived.
        allow: async () => {},
        fill: (shortcut) => lookUpMessage(app, shortcut),
      },
    },
  }),
}

async function lookUpMessage(app: App, { origin, responseUrl, message }: Shortcut): Promise<ModalView> {
  const { store, catalog, slack } = app
  const words = message ? wordsIn(message) : []
  const lists = await readLists(app)
  const named = findThings(words, lists)
  const first = await readNow(app, named.slice(0, mostThings), lists)
  const things = [...first, ...(await readNow(app, addressesOn(first).slice(0, mostThings - first.length), lists))]
  const { about, unread } = await findOpenRequests(
    store,
    things.map(({ id }) => id),
  )
  const shown = new Set<string>()
  // A request names the address and both servers. It is shown once, below the first of them.
  const firstShown = ({ id }: Request) => !shown.has(id) && shown.add(id)
  // An id that is gone stays among the things only for its open requests.
  const gone = new Set(things.filter((now) => now.is === 'gone' && !hasOpen(about.get(now.id))).map(({ id }) => id))
  const unknown = new Set([...gone, ...(lists.isWhole ? missingAddresses(words, lists) : [])])
  const found = (now: ThingNow): FoundThing => ({
    now,
    requests: (about.get(now.id) ?? [])
      .filter((request) => isOpen(request.state) && firstShown(request))
      .map((request) => ({ request, title: catalog.titleOf(request), link: slack.identity.linkTo(request) })),
    offers: catalog.offersFor(now.kind),
    serverId: targetFor(now, things),
  })
  return lookedUpView({
    metadata: writeMetadata({ origin, responseUrl, message: message?.ref }),
    things: things.filter(({ id }) => !gone.has(id)).map(found),
    read: things.length,
    left: named.length - first.length,
    notFound: words.filter((word) => unknown.has(word)),
    isIncomplete: lists.isIncomplete,
    old: lists.old,
    unread,
  })
}

function hasOpen(requests: Request[] = []): boolean {
  return requests.some(({ state }) => isOpen(state))
}

/** Returns the Elastic IPs of the servers that the message names, so that they can be moved away. */
function addressesOn(things: ThingNow[]): Thing[] {
  const shown = new Set(things.map(({ id }) => id))
  const addresses = things.flatMap((thing) => (thing.is === 'server' ? (thing.elasticIps ?? []) : []))
  return addresses.filter(({ id }) => !shown.has(id)).map(({ id }) => ({ kind: 'elastic-ip', id }))
}

/** Returns the only server that the message names besides the one that the Elastic IP is on, if the Elastic IP can move there. */
function targetFor(now: ThingNow, things: ThingNow[]): string | undefined {
  if (now.is !== 'elastic-ip') return undefined
  const servers = things.flatMap((thing) => (thing.is === 'server' ? [thing.server] : []))
  const [only, ...others] = servers.filter(({ id }) => id !== now.elasticIp.server?.id)
  return only && others.length === 0 && canMoveTo(now.elasticIp, only, now.server) ? only.id : undefined
}
