import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { ApiKey, ElasticIp, Plan, Server } from '../account/objects.ts'
import { asFarAsRead } from '../account/resource.ts'
import type { App } from '../app.ts'
import type { AuditEntry } from '../audit/chain.ts'
import { findEntries } from '../audit/find.ts'
import { isBgp } from '../domain/account.ts'
import { isForLackOfAnswer, type Origin } from '../domain/approval.ts'
import { resourcesOf } from '../domain/request.ts'
import type { Keyring } from '../domain/signing.ts'
import {
  compare,
  Difference,
  explains,
  happened,
  type Interval,
  type Row,
  Seen,
  serverFact,
  Watch,
  type WatchedList,
  WatchMessage,
  watchedLists,
} from '../domain/watch.ts'
import { changesWords, differenceWords, endedWords, inStockWords } from '../messages/watches.ts'
import { guardStore } from '../redis/connect.ts'
import { readScripts, scriptsOf } from '../redis/scripts.ts'
import { createSignedList } from '../redis/signed-list.ts'
import type { Mrkdwn } from '../slack/text.ts'
import { readEnds } from './key-ends.ts'

const run = scriptsOf(readScripts(import.meta.url, ['watch']))

/** Everything that is watched, and what was seen last. Times are in ms since 1970 by Redis' clock. */
const Watching = z.object({
  watches: z.array(Watch).default([]),
  /** When the last copy of each list was read, and how many reads that takes. */
  lists: z.partialRecord(z.enum(watchedLists), z.object({ at: z.number(), reads: z.number() })).default({}),
  /** For WATCH_CHANGES: all of these lists, the changes that OPS_CHANNEL was not told of yet, and when it was told last. */
  seen: z.partialRecord(z.enum(watchedLists), z.array(Seen)).default({}),
  untold: z.array(Difference).default([]),
  toldAt: z.number().default(0),
  /** For KEY_REVIEW: when the keys were reviewed last. */
  reviewedAt: z.number().optional(),
})
export type Watching = z.infer<typeof Watching>

const StoredMessage = WatchMessage.extend({ signature: z.string() })

/** `forged`: Lockkeeper did not write it. `unreadable`: signed with a key that this process lacks, or by another version. */
export type WatchingProblem = 'forged' | 'unreadable'

interface Next {
  next: Watching
  messages: Omit<WatchMessage, 'id'>[]
}

/** How long a message is owed that Slack does not take, in ms. */
const owedMs = 24 * 3_600_000

/** Other processes write it, too. Each time one was first, it is read again. */
const mostTries = 10

type WatchingApp = Pick<App, 'redis' | 'keys' | 'store'>

/** One signed hash in Redis. A step replaces it and owes its messages at once, so each difference is told once, whatever dies. */
export function createWatching(
  { redis, keys, store }: WatchingApp,
  { keyring, onProblem = () => {} }: { keyring: Keyring; onProblem?: (problem: WatchingProblem) => void },
) {
  const signed = createSignedList({ keyring, name: 'watching', schema: Watching })

  /** `isOutdated`: a key of STATE_KEY signed it that is not the first one. */
  async function read(): Promise<{ head: string; watching: Watching; problem?: WatchingProblem; isOutdated?: boolean }> {
    const { head = '', text = '' } = await guardStore(() => redis.hgetall(keys.watching))
    const found = signed.decode({ head, text })
    if (found.is === 'genuine') return { head, watching: found.list, isOutdated: !found.isCurrent }
    const watching = Watching.parse({})
    if (found.is === 'none') return { head, watching }
    onProblem(found.is)
    return { head, watching, problem: found.is }
  }

  /**
   * Replaces it with what `decide` makes of it, which may be asked again. What Lockkeeper did not write counts as nothing, and is replaced. What an
   * older key signed is signed again, so that this key can be removed.
   * Returns what was written, undefined if nothing was. Throws StoreUnavailableError.
   */
  async function change(decide: (before: Watching, now: number) => Promise<Next | undefined> | Next | undefined) {
    for (let attempt = 0; attempt < mostTries; attempt += 1) {
      const { head: before, watching, problem, isOutdated } = await read()
      if (problem === 'unreadable') return undefined
      const now = await store.now()
      const decided = (await decide(watching, now)) ?? ((problem || isOutdated) && { next: watching, messages: [] })
      if (!decided) return undefined
      const { head, text } = signed.encode(decided.next, now)
      const owed = decided.messages.map((message) => ({ id: `watch-${randomUUID()}`, ...message }))
      const values = owed.flatMap((message) => [`${message.id}/watch`, JSON.stringify({ ...message, signature: sign(message) })])
      const all = [keys.watching, keys.outbox, ...owed.map(({ id }) => keys.message(id))]
      const [outcome] = await run(redis, 'watch', all, [before, head, text, String(owedMs), ...values])
      if (outcome === 'replaced') return decided.next
    }
    throw new Error('what is watched kept changing while it was written')
  }

  const sign = (message: WatchMessage) => keyring.sign({ signed: 'watch-message', ...message })

  /** A message that is owed. Undefined if Lockkeeper did not write it. */
  function genuine(id: string, text: string): WatchMessage | undefined {
    try {
      const { signature, ...message } = StoredMessage.parse(JSON.parse(text))
      const isGenuine = message.id === id && keyring.verify({ signed: 'watch-message', ...message }, signature) === 'genuine'
      return isGenuine ? message : undefined
    } catch {
      return undefined
    }
  }

  /** When this process tried to read each list, so that one that cannot be read does not hold up the others. */
  return { read, change, genuine, tried: new Map<WatchedList, number>() }
}
export type WatchingRecord = ReturnType<typeof createWatching>

export const mostWatches = 20
export const watchedMs = 30 * 24 * 3_600_000

/** One read of a list a turn: 4 a minute, so that of the 6 of `background` some are left for events. */
export const turnMsOf = ({ timings }: Pick<App, 'timings'>): number => timings.repeatMs ?? 15_000

/** How long it takes until each list was read again, in ms. */
export function intervalMsOf(app: Pick<App, 'timings' | 'config'>, watching: Watching): number {
  const reads = wantedLists(app, watching).map((list) => watching.lists[list]?.reads ?? 1)
  return reads.reduce((sum, each) => sum + each, 0) * turnMsOf(app)
}

/** What WATCH_CHANGES compares. */
const listsOfChanges: WatchedList[] = ['elasticIps', 'apiKeys']

export function wantedLists({ config }: Pick<App, 'config'>, { watches }: Watching): WatchedList[] {
  const ofChanges = config.watchChanges ? listsOfChanges : []
  return watchedLists.filter((list) => ofChanges.includes(list) || watches.some((watch) => watch.list === list))
}

/** A turn of the worker: at most one list, and the events of the account if it shows a change. Without a watch, it reads nothing. */
export async function watchAccount(app: App): Promise<void> {
  const { watching, problem } = await app.watching.read()
  if (problem === 'unreadable') return
  const now = await app.store.now()
  const list = nextList(app, watching, now)
  const read = list && (await readRows(app, list, now))
  await app.watching.change((before, at) => decide(app, before, at, read))
}

/** The list whose last copy is the oldest, once the reads of the one before have their time. */
function nextList(app: App, watching: Watching, now: number): WatchedList | undefined {
  const { tried } = app.watching
  const times = Object.values(watching.lists).map(({ at, reads }) => ({ at, freeAt: at + (reads - 1) * turnMsOf(app) }))
  // The clock of a Redis that took over may be behind.
  if (times.some(({ at, freeAt }) => at <= now && now < freeAt)) return undefined
  const lastAt = (list: WatchedList) => Math.max(watching.lists[list]?.at ?? 0, tried.get(list) ?? 0)
  const [next] = wantedLists(app, watching).sort((a, b) => lastAt(a) - lastAt(b))
  if (next) tried.set(next, now)
  return next
}

interface ReadRows {
  list: WatchedList
  at: number
  reads: number
  isWhole: boolean
  rows: Map<string, ListedRow>
}

/** `inStock`: the sites of a plan. */
interface ListedRow extends Row {
  inStock?: string[]
}

/** The shared copy, if that is fresh. Undefined if the list could not be read, or not to its end: the next turn reads another one. */
async function readRows({ lists }: App, list: WatchedList, now: number): Promise<ReadRows | undefined> {
  const { items, cut, old, unreadable, at } = await asFarAsRead<ElasticIp | Server | Plan | ApiKey>(lists[list]())
  // An older copy counts if it is newer than the last one. Without Redis its time is unknown.
  if (cut || (old && at === undefined)) return undefined
  const rows = items.map((item) => toRow(list, item))
  const isPaged = list === 'elasticIps' || list === 'servers'
  return {
    list,
    at: at ?? now,
    // From 20 items on, the next page is read to find the end.
    reads: isPaged && items.length >= 20 ? Math.ceil(items.length / 100) + 1 : 1,
    isWhole: !unreadable,
    rows: new Map(rows.map((row) => [row.id, row])),
  }
}

const fact = (is: string, shown = is) => ({ is, shown })

const rowOf = {
  plans: ({ id, name, regions }: Plan): ListedRow => ({
    ...{ id, name, facts: {} },
    inStock: [...new Set(regions.flatMap(({ inStockSites }) => inStockSites))],
  }),
  /** While an address moves, its status and its server are no facts: the end of the move shows where it is. */
  elasticIps: (elasticIp: ElasticIp): ListedRow => {
    const { id, address: name, status, server } = elasticIp
    if (status === 'moving') return { id, name, facts: {} }
    const on = server ? fact(server.id, server.hostname ?? server.id) : fact('', 'none shown')
    return { id, name, facts: { ...(!isBgp(elasticIp) && { [serverFact]: on }), status: fact(status) } }
  },
  servers: ({ id, hostname, status, locked, deletedAt }: Server): ListedRow => {
    const deletion = fact(deletedAt === undefined ? 'none' : new Date(deletedAt).toISOString())
    const facts = { hostname: fact(hostname ?? 'none'), status: fact(status ?? 'unknown'), locked: fact(locked ? 'yes' : 'no'), deletion }
    return { id, name: hostname ?? id, facts }
  },
  apiKeys: ({ id, name = id }: ApiKey): ListedRow => ({ id, name, facts: {} }),
}

export function toRow(list: WatchedList, item: unknown): ListedRow {
  return (rowOf[list] as (item: unknown) => ListedRow)(item)
}

const digestMs = 10 * 60_000
/** OPS_CHANNEL gets at most so many changes in one message. */
const mostUntold = 100

/** Decides what is told now, and what is seen and watched from now on. Undefined if nothing is new. */
async function decide(app: App, before: Watching, now: number, read: ReadRows | undefined): Promise<Next | undefined> {
  const next: Watching = { ...before }
  const messages: Next['messages'] = []
  const over = before.watches.filter(({ until }) => until <= now)
  for (const watch of over) messages.push(toWatchers([watch], endedWords(watch)))
  next.watches = before.watches.filter(({ until }) => until > now)

  const last = read && before.lists[read.list]
  const isNewer = read && (last === undefined || last.at > now || read.at > last.at)
  if (isNewer) {
    const compared = await compareWith(app, next, read)
    next.lists = { ...before.lists, [read.list]: { at: read.at, reads: read.reads } }
    Object.assign(next, { watches: compared.watches, seen: compared.seen })
    next.untold = [...before.untold, ...compared.changes].slice(0, mostUntold)
    messages.push(...compared.messages)
  }
  if (!app.config.watchChanges) Object.assign(next, { seen: {}, untold: [] })
  if (next.untold.length > 0 && (now - before.toldAt >= digestMs || before.toldAt > now)) {
    messages.push({ words: changesWords(next.untold).text, watchers: [], items: [] })
    Object.assign(next, { untold: [], toldAt: now })
  }
  const hasEnded = over.length > 0 || Object.keys(before.seen).length > Object.keys(next.seen).length
  return isNewer || hasEnded || messages.length > 0 ? { next, messages } : undefined
}

async function compareWith(app: App, { watches, seen, lists }: Watching, read: ReadRows) {
  const { list, at, isWhole, rows } = read
  const lastAt = lists[list]?.at ?? 0
  const gapMs = Math.max(digestMs, 3 * intervalMsOf(app, { ...Watching.parse({}), watches, lists }))
  const interval = (since: number): Interval => ({ list, at, isWhole, since, gapMs })
  const messages: Next['messages'] = []
  const own = watches.filter((watch) => watch.list === list && watch.at < at)
  const others = watches.filter((watch) => !own.includes(watch))

  const compared = own.map((watch) => ({ watch, ...compare(watch, rows.get(watch.id), interval(Math.max(lastAt, watch.at))) }))
  const isOfChanges = app.config.watchChanges && listsOfChanges.includes(list)
  const ops = isOfChanges ? compareAll(seen[list], rows, interval(lastAt)) : []
  const found = [...compared, ...ops].flatMap(({ difference }) => difference ?? [])
  const foreign = await foreignOf(app, found)
  const foreignIn = (difference: Difference | undefined) => difference && foreign.get(difference)

  const inStock = new Set<Watch>()
  for (const { watch } of compared) {
    const sites = rows.get(watch.id)?.inStock?.filter((site) => watch.site === undefined || site === watch.site) ?? []
    if (sites.length === 0) continue
    inStock.add(watch)
    messages.push(toWatchers([watch], inStockWords(watch, sites)))
  }
  const news = compared.flatMap(({ watch, difference }) => {
    const about = foreignIn(difference)
    return about && !inStock.has(watch) ? [{ watch, about }] : []
  })
  const byChannel = Map.groupBy(news, ({ watch, about }) => JSON.stringify([watch.origin.channelId, about]))
  for (const group of byChannel.values()) {
    const about = group[0]?.about
    const told = group.map(({ watch }) => watch)
    if (about) messages.push(toWatchers(told, differenceWords(about)))
  }

  const kept = compared.flatMap(({ watch, seen: now }) => (now && !inStock.has(watch) ? [{ ...watch, goneSince: undefined, ...now }] : []))
  return {
    messages,
    watches: [...others, ...kept],
    seen: isOfChanges ? { ...seen, [list]: ops.flatMap(({ seen: now }) => now ?? []) } : seen,
    changes: ops.flatMap(({ difference }) => foreignIn(difference) ?? []),
  }
}

/** The first copy only shows what there is. Of addresses only moves are told, of keys only that they were created or are gone. */
function compareAll(before: Seen[] | undefined, rows: Map<string, ListedRow>, interval: Interval) {
  const bare = ({ id, name, facts: { [serverFact]: on } }: ListedRow): Row => ({ id, name, facts: on?.is ? { [serverFact]: on } : {} })
  const known = (before ?? []).map((each) => {
    const row = rows.get(each.id)
    const { seen, difference } = compare(each, row && bare(row), interval)
    return { seen, difference: difference?.list === 'elasticIps' && difference.what === 'gone' ? undefined : difference }
  })
  const ids = new Set(before?.map(({ id }) => id))
  const fresh = [...rows.values()]
    .filter(({ id }) => !ids.has(id))
    .map((row) => {
      const isNew = before !== undefined && interval.list === 'apiKeys'
      const difference: Difference | undefined = isNew
        ? { ...happened(interval, interval.since), id: row.id, name: row.name, what: 'created', facts: [] }
        : undefined
      return { seen: bare(row), difference }
    })
  return [...known, ...fresh]
}

/** The clocks of the account and of Redis may differ by so much. */
const clockMarginMs = 60_000

/** The differences that no request of Lockkeeper explains, with the authors that the account's events name. */
async function foreignOf(app: App, found: Difference[]): Promise<Map<Difference, Difference>> {
  if (found.length === 0) return new Map()
  const resources = found.filter(({ list }) => list === 'elasticIps').map(({ id }) => `elastic_ip:${id}`)
  const [{ requests: open }, ended, last] = await Promise.all([
    app.store.findOpen(),
    app.store.ended(100, () => true),
    app.store.lastChangesOf(resources),
  ])
  const genuine = [...open, ...ended, ...last.values()].filter((request) => app.signatures.verifyRecord(request) === 'genuine')
  const unexplained = found.filter((difference) => !genuine.some((request) => explains(request, difference)))
  const noted = await notedKeys(app, unexplained)
  const foreign = unexplained.filter(({ id }) => !noted.has(id))
  if (foreign.length === 0) return new Map()
  const since = Math.min(...foreign.map((each) => each.since)) - clockMarginMs
  const events = await app.account.events.list({ since: new Date(since) }).catch(() => [])
  // The event of Lockkeeper's own write does not say who changed the same thing after it.
  const isOwn = (id: string, at: number) =>
    genuine.some((request) => resourcesOf(request).includes(`elastic_ip:${id}`) && Math.abs(at - (request.sentAt ?? 0)) < clockMarginMs)
  const authorsOf = ({ id, since }: Difference) =>
    events.flatMap(({ target, author, createdAt }) => {
      const at = Date.parse(createdAt ?? '')
      return target?.id === id && at >= since - clockMarginMs && !isOwn(id, at) ? (author?.email ?? author?.name ?? author?.id ?? []) : []
    })
  return new Map(foreign.map((each) => [each, { ...each, by: [...new Set(authorsOf(each))].slice(0, 3) }]))
}

/** The keys that Lockkeeper created or deleted since then, as the audit notes it, and those that it is deleting because they have ended. */
async function notedKeys(app: App, found: Difference[]): Promise<Set<string>> {
  const ids = new Set(found.filter(({ list }) => list === 'apiKeys').map(({ id }) => id))
  if (ids.size === 0) return new Set()
  const since = Math.min(...found.map((each) => each.since))
  const isChange = ({ act, resourceId = '' }: AuditEntry) => ids.has(resourceId) && act !== 'call-for-key-end'
  const [entries, { ends }] = await Promise.all([findEntries(app, isChange, { since }), readEnds(app)])
  const noted = entries.flatMap(({ verdict, resourceId = '' }) => (verdict === 'genuine' ? [resourceId] : []))
  const ending = found.flatMap(({ id, at }) => ((ends.get(id)?.end ?? at) < at ? [id] : []))
  return new Set([...noted, ...ending])
}

function toWatchers(watches: Watch[], words: Mrkdwn): Next['messages'][number] {
  return { words: words.text, channelId: watches[0]?.origin.channelId, watchers: watches.map(({ origin }) => origin), items: [] }
}

/** Whether the person may still read where they watch. Undefined if Slack gives no answer. */
export async function mayWatch(app: Pick<App, 'access'>, origin: Origin): Promise<boolean | undefined> {
  const ruling = await app.access.judge(origin, { to: 'read' }, true)
  if (ruling.allowed) return true
  return isForLackOfAnswer(ruling.denial) ? undefined : false
}

/** Ends what these people watch in these channels, because they may no longer read there. */
export async function endWatches(app: Pick<App, 'watching'>, origins: Origin[]): Promise<void> {
  if (origins.length === 0) return
  const isOf = ({ origin }: Watch) => origins.some(({ userId, channelId }) => userId === origin.userId && channelId === origin.channelId)
  await app.watching.change((before) => ({ next: { ...before, watches: before.watches.filter((watch) => !isOf(watch)) }, messages: [] }))
}
