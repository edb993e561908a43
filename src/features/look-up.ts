import { isIP } from 'node:net'
import type { Button, KnownBlock, ModalView } from '@slack/web-api'
import type { z } from 'zod'
import type { ApiKey, ElasticIp, Server, VirtualMachine } from '../account/objects.ts'
import type { App } from '../app.ts'
import { bareWords, buttonOf } from '../bolt/help.ts'
import { accessWords, isBgp, requesterOfKey, type SeenAssignment } from '../domain/account.ts'
import type { Offer, OfferedThing, ThingKind } from '../domain/change.ts'
import type { List } from '../domain/list.ts'
import type { Request } from '../domain/request.ts'
import { plainName, suggestNames, withoutInvisible } from '../domain/text.ts'
import { withinOr } from '../domain/within.ts'
import type { OwnAbility } from '../kit/ability.ts'
import { agoWords, fixedWords, sentBefore } from '../kit/elastic-ip.ts'
import { endsWhen, type KeyEnd, shownEnds } from '../kit/key-ends.ts'
import { historiesOf, openRequests, requestLine } from '../kit/list.ts'
import { goneWords, readBriefly } from '../kit/thing.ts'
import { apiKeys, slugOf, statusOf } from '../kit/things.ts'
import { shortId } from '../messages/request-words.ts'
import { guardStore } from '../redis/connect.ts'
import { button, context, divider, meantButtons, message, modal, notice, sectionWithButton, wholeSection } from '../slack/blocks.ts'
import type { Shortcut, ShortcutMessage } from '../slack/interactions.ts'
import { oldNotes, type PageButton, pageActionIds } from '../slack/listing.ts'
import { writeMetadata } from '../slack/payloads.ts'
import { itemButton } from '../slack/table.ts'
import { alternatives, code, factName, joinMrkdwn, type Mrkdwn, mention, mrkdwn, nameWords, phraseWords, someTexts } from '../slack/text.ts'
import type { Message } from '../slack/web-api.ts'

/** What the account shows. */
interface Lists {
  elasticIps: ElasticIp[]
  servers: Server[]
  virtualMachines: VirtualMachine[]
  hasElasticIps: boolean
  /** Whether one of them was not read, or not to its end. */
  isIncomplete: boolean
  /** Where Lockkeeper saw addresses that the account shows on no server now. Absent if that could not be read. */
  seen?: SeenAssignment[] | undefined
  old: List<unknown>['old']
  /** When the oldest of them was read. */
  readAt: number
}

/** A thing as the account shows it. */
export interface Thing {
  kind: ThingKind
  id: string
  name: string
  line: Mrkdwn
  /** Whether no change of it is possible now. The line says why. */
  isStuck?: boolean
}

/** Names count whole, in any case. */
export function findThings(words: string[], lists: Omit<Lists, 'isIncomplete' | 'old' | 'readAt'>): Thing[] {
  const { elasticIps, servers, virtualMachines, hasElasticIps, seen } = lists
  const places = new Map(words.toReversed().map((word, index) => [plainName(word), words.length - index]))
  const exact = new Set(words)
  const named = (id: string, names: (string | undefined)[], thing: () => Thing) => {
    const at = [exact.has(id) ? id : undefined, ...names].flatMap((name) => places.get(plainName(name ?? '')) ?? [])
    return at.length > 0 ? [{ thing: thing(), at: Math.min(...at) }] : []
  }
  const found = [
    ...elasticIps.flatMap((elasticIp) => {
      const { id, address, server } = elasticIp
      const on = () => servers.find((each) => each.id === server?.id)
      const seenOn = () => seen?.find(({ elasticIpId, isSent }) => elasticIpId === id && !isSent)
      return named(id, [address.replace(/\/\d{1,3}$/, '')], () => elasticIpThing(elasticIp, on(), seenOn()))
    }),
    ...servers.flatMap((server) => {
      const { id, hostname, primaryIpv4 } = server
      const own = () => (hasElasticIps ? elasticIps.filter((each) => each.server?.id === id) : undefined)
      const seenHere = () => seen?.filter(({ serverId }) => serverId === id)
      return named(id, [hostname, primaryIpv4], () => serverThing(server, own(), seenHere()))
    }),
    ...virtualMachines.flatMap((machine) => {
      const { id, name, primaryIpv4 } = machine
      return named(id, [name, primaryIpv4], () => machineThing(machine))
    }),
  ]
  return found.toSorted((a, b) => a.at - b.at).map(({ thing }) => thing)
}

function oldestOf(lists: Pick<List<unknown>, 'old'>[]): Lists['old'] {
  return lists.flatMap(({ old }) => old ?? []).toSorted((one, other) => other.agoMs - one.agoMs)[0]
}

/** How long a look-up waits for what Lockkeeper saw before. Without it, every dead server can be evacuated. */
const seenMs = 500

/** Reads the lists that are shared. Throws if none could be read. */
async function readLists(app: App): Promise<Lists> {
  const { lists, assignments } = app
  const [addresses, machines, others] = await Promise.allSettled([lists.elasticIps(), lists.servers(), lists.virtualMachines()])
  const all = [addresses, machines, others]
  const read = all.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  if (read.length === 0 && addresses.status === 'rejected') throw addresses.reason
  const elasticIps = addresses.status === 'fulfilled' ? addresses.value.items : []
  const placed = new Set(elasticIps.flatMap(({ id, server }) => (server ? [id] : [])))
  const seen = await withinOr(
    seenMs,
    Promise.all([
      assignments.find(({ elasticIpId }) => !placed.has(elasticIpId)),
      sentBefore(
        app,
        elasticIps.filter(({ id }) => !placed.has(id)),
      ).catch(() => []),
    ]).then(
      (found) => found.flat(),
      () => undefined,
    ),
    undefined,
  )
  return {
    elasticIps,
    seen,
    servers: machines.status === 'fulfilled' ? machines.value.items : [],
    virtualMachines: others.status === 'fulfilled' ? others.value.items : [],
    isIncomplete: read.length < all.length || read.some(({ cut }) => cut !== undefined),
    hasElasticIps: addresses.status === 'fulfilled' && addresses.value.cut === undefined,
    old: oldestOf(read),
    readAt: Math.min(...read.map(({ readAt }) => readAt ?? Number.POSITIVE_INFINITY)),
  }
}

/** `on`: the server that it is on, as far as it could be read. `seen`: where Lockkeeper saw it, if the account shows no server. */
export function elasticIpThing(elasticIp: ElasticIp, on: Server | undefined, seen?: SeenAssignment): Thing {
  const { id, address: name, status, server, project, site } = elasticIp
  const where = server
    ? mrkdwn`On ${nameWords(server.hostname ?? server.id)} (${on ? (statusOf(on) ?? 'status unknown') : "couldn't read its status"})`
    : mrkdwn`On no server, or its server isn't active${seen ? mrkdwn`. Seen on ${nameWords(seen.serverName)} ${agoWords([seen.agoMs])}` : ''}`
  const whyNot = fixedWords(elasticIp)
  const more = [...(isBgp(elasticIp) ? [] : [where]), ...(whyNot ? [whyNot] : [])]
  const line = described(name, `Elastic IP, ${status}`, more, [project?.name, slugOf(site), id])
  return { kind: 'elastic-ip', id, name, line, isStuck: whyNot !== undefined }
}

/** `elasticIps`: undefined if they could not be read. `seen`: those with which a dead server may still be evacuated, undefined if not known. */
function serverThing(server: Server, elasticIps: ElasticIp[] | undefined, seen: SeenAssignment[] | undefined): Thing {
  const { id, hostname: name = id, label, status, primaryIpv4, project, site } = server
  const more = [
    addressesLine(elasticIps, status === 'on' ? undefined : (seen ?? [])),
    ...(label ? [mrkdwn`Label: ${nameWords(label)}`] : []),
  ]
  const line = described(name, `server, ${statusOf(server) ?? 'status unknown'}`, more, [project?.name, slugOf(site), primaryIpv4, id])
  return { kind: 'server', id, name, line, isStuck: elasticIps?.length === 0 && (status === 'on' || seen?.length === 0) }
}

function machineThing({ id, name = id, status, primaryIpv4, project, site }: VirtualMachine): Thing {
  const line = described(name, `virtual machine, ${status ?? 'status unknown'}`, [], [project?.name, site, primaryIpv4, id])
  return { kind: 'virtual-machine', id, name, line }
}

function described(name: string, what: string, more: Mrkdwn[], facts: (string | undefined)[]): Mrkdwn {
  const shown = facts.flatMap((fact) => (fact ? [factName(fact)] : []))
  return joinMrkdwn([mrkdwn`*${nameWords(name)}*  ${what}`, ...more, joinMrkdwn(shown, '  ·  ')], '\n')
}

/** `seen`: on a server that is not active, of whose addresses the account shows none. */
function addressesLine(elasticIps: ElasticIp[] | undefined, seen: SeenAssignment[] | undefined): Mrkdwn {
  if (!elasticIps) return mrkdwn`Couldn't read its Elastic IPs.`
  const named = (listed: { address: string }[]) => someTexts(listed.map(({ address }) => code(address)))
  if (elasticIps.length > 0) return mrkdwn`Elastic IPs: ${named(elasticIps)}`
  if (!seen) return mrkdwn`No Elastic IPs`
  const here = (how: string, some: SeenAssignment[]) =>
    some.length > 0 ? mrkdwn`. ${how} here ${agoWords(some.map(({ agoMs }) => agoMs))}: ${named(some)}` : ''
  const seenHere = seen.filter(({ isSent }) => !isSent)
  const sentHere = seen.filter(({ isSent, address }) => isSent && !seenHere.some((each) => each.address === address))
  return mrkdwn`No Elastic IPs shown${here('Seen', seenHere)}${here('Sent', sentHere)}`
}

const title = 'Look up in Lockkeeper'

interface FoundThing {
  thing: Thing
  history: Mrkdwn[]
  offers: Offer[]
}

/** Shows what a message names, as it is now, each with its open requests and its buttons. `left`: how many more the message names. */
export function lookedUpView(
  metadata: string,
  things: FoundThing[],
  left: number,
  { isIncomplete, old }: Pick<Lists, 'isIncomplete' | 'old'>,
  requests: Mrkdwn[] | 'unread' = [],
) {
  const notes = [
    ...oldNotes({ old }),
    ...(left > 0 ? [mrkdwn`The message names ${left} more. Only the first ${things.length} were looked up.`] : []),
    ...(isIncomplete ? [mrkdwn`:warning: Couldn't read every list of the account. The message may name more.`] : []),
    ...(requests === 'unread' ? [mrkdwn`:warning: Couldn't read the requests that it names.`] : []),
  ]
  const found = [
    ...things.flatMap((thing, index) => thingBlocks(thing, index, buttonInView)),
    ...(requests === 'unread' ? [] : requests).flatMap((line) => wholeSection(line)),
  ]
  return modal({ title, metadata, blocks: [...(found.length > 0 ? found : nothingFound), ...context(notes)] })
}

const nothingFound = wholeSection(
  mrkdwn`This message names no Elastic IP, server or virtual machine of the account, and no request. I searched for addresses, hostnames and ids.`,
)

type ToButton = (offer: Offer, thing: Thing) => Button[]

const buttonInView: ToButton = ({ label: text, actionId }, { id }) => [
  button({ text, actionId, value: JSON.stringify({ version: 1, id } satisfies OfferedThing) }),
]

const buttonInMessage: ToButton = ({ of, kind, label }, thing) => itemButton({ of, kind, label }, { id: thing.id, text: thing.name })

function thingBlocks({ thing, history, offers }: FoundThing, index: number, toButton: ToButton): KnownBlock[] {
  const [offer] = thing.isStuck ? [] : offers
  const [own] = offer ? toButton(offer, thing) : []
  const shown = own ? [sectionWithButton(thing.line, own)] : wholeSection(thing.line)
  return [...(index > 0 ? [divider()] : []), ...shown, ...history.flatMap((line) => context([line]))]
}

/** The most that is searched in a message. Slack's longest message has 40,000 characters, and its text and its blocks say the same. */
const most = { characters: 100_000, nodes: 20_000, words: 5_000 } as const

/** The members of blocks, elements and attachments that people read. Ids and kinds are left out. */
const shownMembers = new Set(['text', 'title', 'value', 'fallback', 'pretext', 'footer', 'author_name', 'url', 'title_link', 'alt_text'])

/** Lists the words of a message in their order, each once: of its text, its blocks and its attachments. */
export function wordsIn({ text, blocks, attachments }: Pick<ShortcutMessage, 'text' | 'blocks' | 'attachments'>): string[] {
  const texts = [text, ...shownIn(blocks), ...shownIn(attachments)].join('\n').slice(0, most.characters)
  const pieces = withoutInvisible(withoutMarkup(texts)).split(/[^\p{L}\p{N}_.:-]+/u)
  return [...new Set(pieces.flatMap(wordsOf))].slice(0, most.words)
}

/** Collects the texts of nested blocks without recursion, because the nesting is from outside. */
function shownIn(nested: unknown[]): string[] {
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

/** The most things that are shown. */
const mostThings = 8

/** The message shortcut *Look up in Lockkeeper*: shows what a message names, as it is now on the account. */
export const lookUp: OwnAbility = {
  create: (app) => ({
    commands: [],
    bare: (typed) => lookUpTyped(app, typed),
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
  const words = message ? wordsIn(message) : []
  const reading = requestsCalled(app, words).then((called) => requestLines(app, called))
  const [{ lists, things, left }, requests] = await Promise.all([lookUpWords(app, words), reading.catch(() => undefined)])
  return lookedUpView(writeMetadata({ origin, responseUrl, message: message?.ref }), things, left, lists, requests ?? 'unread')
}

/** `/infra 203.0.113.10`: shows what was typed, as the shortcut does. Undefined if it names nothing. */
async function lookUpTyped(app: App, typed: string): Promise<Message | undefined> {
  const requests = await requestsCalled(app, [typed])
  if (requests.length > 0) return message(requestLines(app, requests).flatMap((line) => wholeSection(line)))
  const { lists, things } = await lookUpWords(app, wordsOf(typed))
  if (things.length > 0)
    return message([...things.flatMap((thing, index) => thingBlocks(thing, index, buttonInMessage)), ...context(oldNotes(lists))])
  const list = await app.lists.apiKeys().catch(() => undefined)
  const keys = list?.items ?? []
  const called = keys.filter((key) => key.id === typed || apiKeys.isCalled?.(key, typed))
  if (called.length > 0) {
    const shown = called.slice(0, mostThings)
    const about = shown.map(({ id }) => ({ kind: 'api-key' as const, id }))
    const [ends, histories] = await Promise.all([readBriefly(shownEnds(app, keys)), historiesOf(app, about)])
    const mark = ({ tokenLastSlice }: ApiKey) => (called.length > 1 ? tokenLastSlice : undefined)
    return message([
      ...shown.flatMap((key, index) => [
        keyBlock(key, typed, ends, mark(key)),
        ...(histories[index] ?? []).flatMap((line) => context([line])),
      ]),
      ...context(oldNotes(list ?? {})),
    ])
  }
  // A key whose creation waits is not on the account yet. Its request locks the name.
  const [creation] = (await readBriefly(app.store.othersFor({ id: '', resource: `api_key_label:${typed.toLowerCase()}` }))) ?? []
  if (creation) return notice(requestLine(app, creation, 'Open request'))
  const gone = list && !list.cut && !list.old ? await goneWords(app, apiKeys, app.config.slack.command, typed) : undefined
  if (gone) return notice(gone)
  const old = oldestOf([lists, list ?? {}])
  const near = nearWords(app, typed, { ...lists, old }, keys.map(apiKeys.nameOf))
  if (near) return near
  // No command has a digit.
  if ((lists.isIncomplete || old) && /\d/.test(typed)) {
    const open = (await readBriefly(openRequests(app)))?.get(typed) ?? []
    const unread = mrkdwn`Couldn't read every list of the account, so ${nameWords(typed)} wasn't found. Try again in a minute.`
    return notice(joinMrkdwn([unread, ...open.map((request) => requestLine(app, request, 'Open request'))], '\n'))
  }
  if (!looksLikeId(typed)) return undefined
  return notice(mrkdwn`No request ${code(typed)}. Requests are kept for 30 days after their end: see ${inAudit(app, typed)}.`)
}

const inAudit = ({ config }: App, typed: string) => code(`${config.slack.command} audit ${typed}`)

/** Messages show the first 8 characters of a request's id. */
function looksLikeId(typed: string): boolean {
  return /^[\da-f]{8,32}$/.test(typed)
}

/** The open ones and the last 10,000 that ended are searched. */
async function requestsCalled({ redis, keys, store }: App, words: string[]): Promise<Request[]> {
  const called = words.filter(looksLikeId)
  if (called.length === 0) return []
  const ids = await guardStore(() => Promise.all([redis.zrange(keys.open, '0', '-1'), redis.zrevrange(keys.ended, 0, 9_999)]))
  const found = ids.flat().filter((id) => called.some((each) => id.startsWith(each)))
  return store.findMany(found.slice(0, mostThings))
}

const requestLines = (app: App, requests: Request[]) => requests.map((each) => requestLine(app, each, `Request ${shortId(each)}`))

/** The list has its details and what can be requested for it. `ends`: absent if they could not be read. `mark`: tells it from others of its name. */
function keyBlock(key: ApiKey, typed: string, ends: Map<string, KeyEnd> | undefined, mark: string | undefined): KnownBlock {
  const end = ends?.get(key.id)
  const requester = requesterOfKey(key)
  const more = [
    ...(requester ? [mrkdwn`For ${mention(requester)}`] : []),
    ...(mark ? [mrkdwn`Token ends in ${code(mark)}`] : []),
    end ? mrkdwn`Ends ${phraseWords(endsWhen(end))}` : ends ? mrkdwn`Doesn't end by itself` : mrkdwn`Couldn't read when it ends`,
  ]
  const name = apiKeys.nameOf(key) ?? key.id
  const line = described(name, `API key, ${accessWords(key)}`, [joinMrkdwn(more, '  ·  ')], [key.user?.email])
  const args = mark ? [typed, mark] : [typed]
  const value = JSON.stringify({ version: 1, command: 'keys', args, page: 0 } satisfies z.infer<typeof PageButton>)
  const about = mark ? `${name}, token ends in ${mark}` : name
  return sectionWithButton(line, button({ text: 'Show key', actionId: pageActionIds.run, value, about }))
}

function nearWords(
  { config }: App,
  typed: string,
  { elasticIps, servers, virtualMachines, old }: Lists,
  keys: (string | undefined)[],
): Message | undefined {
  const names = [
    ...elasticIps.map(({ address }) => address),
    ...servers.map(({ hostname }) => hostname),
    ...virtualMachines.map(({ name }) => name),
    ...keys,
  ]
  const near = suggestNames(
    names.filter((name) => name !== undefined),
    typed,
  )
  if (near.length === 0) return undefined
  const buttons = near.flatMap((name) => buttonOf(bareWords, [name], near.length > 1 ? `Look up ${name}` : 'Look it up'))
  const words = mrkdwn`Nothing is called ${nameWords(typed)}. Did you mean ${alternatives(near.map(nameWords))}?`
  return message([...wholeSection(words), ...context(oldNotes({ old })), ...meantButtons(config.slack.command, buttons)])
}

const listsOfThings = ['elasticIps', 'servers', 'virtualMachines'] as const

async function lookUpWords(app: App, words: string[]) {
  let lists = await readLists(app)
  let named = findThings(words, lists)
  // A request that was checked since has newer facts, and would contradict what is shown above it.
  if (named.length > 0 && (await requestedSince(app, named, lists.readAt))) {
    await Promise.all(listsOfThings.map((list) => app.lists.forget(list)))
    lists = await readLists(app)
    named = findThings(words, lists)
  }
  const things = named.slice(0, mostThings)
  const histories = things.length > 0 ? await historiesOf(app, things) : []
  const found = things.map(
    (thing, index): FoundThing => ({
      thing,
      history: histories[index] ?? [],
      offers: app.catalog.offersFor(thing.kind),
    }),
  )
  return { lists, things: found, left: named.length - things.length }
}

async function requestedSince(app: App, things: Thing[], at: number): Promise<boolean> {
  const about = await readBriefly(openRequests(app))
  return things.some(({ id }) => about?.get(id)?.some(({ createdAt }) => createdAt > at))
}
