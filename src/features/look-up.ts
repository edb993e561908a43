import { isIP } from 'node:net'
import type { KnownBlock, ModalView } from '@slack/web-api'
import type { ElasticIp, Server, VirtualMachine } from '../account/objects.ts'
import { asFarAsRead, type ReadList } from '../account/resource.ts'
import type { App } from '../app.ts'
import { isBgp } from '../domain/account.ts'
import type { Offer, OfferedThing, ThingKind } from '../domain/change.ts'
import { ApiError, type Missing } from '../domain/errors.ts'
import { isOpen, type Request } from '../domain/request.ts'
import { type Phrase, withoutInvisible, withoutOwner } from '../domain/text.ts'
import type { FeatureDefinition } from '../kit/change-feature.ts'
import { elasticIps, servers, slugOf, virtualMachines } from '../kit/things.ts'
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

interface Thing {
  kind: ThingKind
  id: string
}

const kinds = { 'elastic-ip': elasticIps, server: servers, 'virtual-machine': virtualMachines }

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
  const named = (kind: ThingKind, id: string, names: (string | undefined)[]) => {
    const at = [exact.has(id) ? id : undefined, ...names].flatMap((name) => places.get(name?.toLowerCase() ?? '') ?? [])
    return at.length > 0 ? [{ kind, id, at: Math.min(...at) }] : []
  }
  const listed = [
    ...elasticIps.flatMap(({ id, address }) => named('elastic-ip', id, [address.replace(/\/\d{1,3}$/, '')])),
    ...servers.flatMap(({ id, hostname, primaryIpv4 }) => named('server', id, [hostname, primaryIpv4])),
    ...virtualMachines.flatMap(({ id, name, primaryIpv4 }) => named('virtual-machine', id, [name, primaryIpv4])),
  ]
  const known = new Set(listed.map(({ id }) => id))
  const others = words
    .filter((word) => !known.has(word))
    .flatMap((word) => ids.flatMap(([kind, id]) => (id.test(word) ? named(kind, word, []) : [])))
  return [...listed, ...others].toSorted((a, b) => a.at - b.at).map(({ kind, id }) => ({ kind, id }))
}

/** The open requests about each thing, by its id. `unread`: how many open requests this version cannot read. */
interface OpenRequests {
  about: Map<string, Request[]>
  unread: number
}

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

const readMs = 8_000

interface LookUpLists extends Lists {
  /** Whether one of them was not read, or not to its end. */
  isIncomplete: boolean
  /** Whether the list of Elastic IPs was read. */
  hasElasticIps: boolean
  /** The oldest of those that are earlier copies. */
  old: Missing['old']
}

/** Reads the lists that are shared. Throws if none could be read. */
async function readLists({ lists }: App): Promise<LookUpLists> {
  const problems: unknown[] = []
  const read = async <Item>(list: Promise<Item[]>): Promise<ReadList<Item>> => {
    const nothing = { items: [], cut: 'size' as const }
    return asFarAsRead(list).catch((error: unknown) => {
      problems.push(error)
      return nothing
    })
  }
  const [ofElasticIps, ofServers, ofMachines] = await Promise.all([
    read(lists.elasticIps()),
    read(lists.servers()),
    read(lists.virtualMachines()),
  ])
  const all = [ofElasticIps, ofServers, ofMachines]
  if (problems.length === all.length) throw problems[0]
  return {
    elasticIps: ofElasticIps.items,
    servers: ofServers.items,
    virtualMachines: ofMachines.items,
    isIncomplete: all.some(({ cut }) => cut !== undefined),
    hasElasticIps: ofElasticIps.cut === undefined,
    old: all.flatMap(({ old }) => old ?? []).toSorted((one, other) => other.agoMs - one.agoMs)[0],
  }
}

/** Finds the things in the lists, and reads those that the lists do not have. */
function readNow(app: App, things: Thing[], lists: LookUpLists): Promise<ThingNow[]> {
  const signal = AbortSignal.timeout(readMs)
  const isAbsent = (error: unknown) => error instanceof ApiError && error.status === 404
  const failed = (thing: Thing, error: unknown): ThingNow => ({ ...thing, is: isAbsent(error) ? 'gone' : 'unread' })
  return Promise.all(things.map((thing) => readOne(app, thing, lists, signal).catch((error: unknown) => failed(thing, error))))
}

async function readOne({ account }: App, thing: Thing, lists: LookUpLists, signal: AbortSignal): Promise<ThingNow> {
  const read = async <Item extends { id: string }>(list: Item[], id: string, from: { get(id: string, options: object): Promise<Item> }) =>
    list.find((item) => item.id === id) ?? (await from.get(id, { signal }))
  const { id, kind } = thing
  if (kind === 'virtual-machine') return { ...thing, is: kind, machine: await read(lists.virtualMachines, id, account.virtualMachines) }
  if (kind === 'server') {
    const server = await read(lists.servers, id, account.servers)
    return {
      ...thing,
      is: kind,
      server,
      elasticIps: lists.hasElasticIps ? lists.elasticIps.filter((each) => each.server?.id === id) : undefined,
    }
  }
  const elasticIp = await read(lists.elasticIps, id, account.elasticIps)
  const on = elasticIp.server?.id
  const server = on === undefined ? undefined : await read(lists.servers, on, account.servers).catch(() => undefined)
  return { ...thing, is: kind, elasticIp, server }
}

/** Says why an Elastic IP can't be moved to any server now. Undefined if it can be. */
function cannotMoveWords(elasticIp: ElasticIp): Mrkdwn | undefined {
  const finding = whyNotMovable(elasticIp)
  return finding && endingWords(moveWords(finding))
}

/** The most Elastic IPs of one server that are named. */
const mostNamed = 10

function thingLine(now: ThingNow): Mrkdwn {
  switch (now.is) {
    case 'gone':
      return mrkdwn`${code(now.id)}: no such ${kinds[now.kind].one} on the account.`
    case 'unread':
      return mrkdwn`${code(now.id)}: couldn't read this ${kinds[now.kind].one}. Try again in a minute.`
    case 'elastic-ip': {
      const { id, address, status, server, project, site } = now.elasticIp
      const where = server
        ? mrkdwn`On ${code(server.hostname ?? server.id)} (${now.server ? statusOf(now.server) : "couldn't read its status"})`
        : mrkdwn`On no server, or its server isn't active`
      const whyNot = cannotMoveWords(now.elasticIp)
      const more = [...(isBgp(now.elasticIp) ? [] : [where]), ...(whyNot ? [whyNot] : [])]
      return described(address, `Elastic IP, ${status}`, more, [placeOf(project, slugOf(site)), id])
    }
    case 'server': {
      const { id, hostname, label, primaryIpv4, project, site } = now.server
      const more = [addressesLine(now.elasticIps), ...(label ? [mrkdwn`Label: ${code(label)}`] : [])]
      return described(hostname ?? id, `server, ${statusOf(now.server)}`, more, [placeOf(project, slugOf(site)), primaryIpv4, id])
    }
    case 'virtual-machine': {
      const { id, name, status, primaryIpv4, project, site } = now.machine
      return described(name ?? id, `virtual machine, ${status ?? 'status unknown'}`, [], [placeOf(project, site), primaryIpv4, id])
    }
  }
}

/** The facts are from outside, so they are code, in which nothing is markup. */
function described(name: string, what: string, more: Mrkdwn[], facts: (string | undefined)[]): Mrkdwn {
  const shown = facts.filter((fact) => fact !== undefined && fact !== '').map((fact) => code(fact ?? ''))
  return joinMrkdwn([mrkdwn`*${code(name)}*  ${what}`, ...more, joinMrkdwn(shown, '  ')], '\n')
}

function addressesLine(elasticIps: ElasticIp[] | undefined): Mrkdwn {
  if (!elasticIps) return mrkdwn`Couldn't read its Elastic IPs.`
  if (elasticIps.length === 0) return mrkdwn`No Elastic IPs`
  const named = elasticIps.map(({ address }) => code(address))
  return mrkdwn`Elastic IPs: ${someTexts(named, mostNamed)}`
}

function statusOf({ status, locked }: Server): string {
  return `${status ?? 'status unknown'}${locked ? ', locked' : ''}`
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
  /** Whether a list of the account could not be read to its end. */
  isIncomplete: boolean
  /** Set if the account was read earlier. */
  old: Missing['old']
  /** How many open requests were not searched. */
  unread: number
}

/** Shows what a message names, as it is now, each with its open requests and its buttons. */
export function lookedUpView({ metadata, things, read, left, isIncomplete, old, unread }: LookedUp): ModalView {
  const notes = [
    ...oldNotes({ old }),
    ...(left > 0 ? [mrkdwn`The message names ${left} more. Only the first ${read} were looked up.`] : []),
    ...(isIncomplete ? [mrkdwn`:warning: Couldn't read every list of the account. The message may name more.`] : []),
    ...(unread > 0 && things.length > 0 ? [mrkdwn`:warning: ${unread} more open requests weren't searched.`] : []),
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
        form: () => modal({ title, blocks: wholeSection(mrkdwn`Searching this message…`) }),
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
  const { about, unread } = await findOpenRequests(store, idsOf(things))
  const shown = new Set<string>()
  // A request names the address and both servers. It is shown once, below the first of them.
  const firstShown = ({ id, state }: Request) => isOpen(state) && !shown.has(id) && shown.add(id)
  const found = (now: ThingNow): FoundThing => ({
    now,
    requests: (about.get(now.id) ?? [])
      .filter(firstShown)
      .map((request) => ({ request, title: catalog.titleOf(request), link: slack.identity.linkTo(request) })),
    offers: catalog.offersFor(now.kind),
    serverId: targetFor(now, things),
  })
  return lookedUpView({
    metadata: writeMetadata({ origin, responseUrl, message: message?.ref }),
    things: things.map(found),
    read: things.length,
    left: named.length - first.length,
    isIncomplete: lists.isIncomplete,
    old: lists.old,
    unread,
  })
}

function idsOf(things: Thing[]): string[] {
  return things.map(({ id }) => id)
}

/** Returns the Elastic IPs of the servers that the message names, so that they can be moved away. */
function addressesOn(things: ThingNow[]): Thing[] {
  const shown = new Set(idsOf(things))
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
