import { z } from 'zod'
import type { ApiKey, ElasticIp } from '../../account/objects.ts'
import type { App } from '../../app.ts'
import type { AuditEntry } from '../../audit/chain.ts'
import { findEntries } from '../../audit/find.ts'
import { isBgp, labelOf } from '../../domain/account.ts'
import type { List } from '../../domain/list.ts'
import type { Setup } from '../../kit/ability.ts'
import { type OwedMessage, owedMessage } from '../../kit/owed-message.ts'
import { notifyOperators } from '../../outbox/notices.ts'
import { open, readText, replace, seal } from '../../redis/sealed.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mrkdwn, nameWords } from '../../slack/text.ts'
import { type ComparedList, comparedLists, compareLists, Difference, explains, type OutsideProblem, type Row, Seen } from './differences.ts'

/** What was seen of the account last. Times are in ms since 1970 by Redis' clock. */
const Outside = z.object({
  /** When the last copy of each list was read, and how many reads that takes. */
  lists: z.partialRecord(z.enum(comparedLists), z.object({ at: z.number(), reads: z.number() })).default({}),
  seen: z.partialRecord(z.enum(comparedLists), z.array(Seen)).default({}),
  /** What was not reported to OPS_CHANNEL yet, and when the last report was. */
  untold: z.array(Difference).default([]),
  toldAt: z.number().default(0),
})
export type Outside = z.infer<typeof Outside>

interface Next {
  next: Outside
  messages: OwedMessage[]
}

/** Other processes write it, too. Each time one was first, it is read again. */
const mostTries = 10

/** `isOutdated`: a key of STATE_KEY signed it that is not the first one. Throws StoreUnavailableError. */
export async function readOutside(app: App): Promise<{ text: string; outside: Outside; problem?: OutsideProblem; isOutdated?: boolean }> {
  const { keys } = app
  const text = await readText(app.redis, keys.outside)
  const found = open(app.recordKeyring, 'outside', Outside, text)
  if (found.is === 'genuine') return { text, outside: found.facts, isOutdated: !found.isCurrent }
  const outside = Outside.parse({})
  if (found.is === 'none') return { text, outside }
  void notifyOperators(app, 'outside-not-trusted', distrustedOutside(found.is, keys.outside), { about: found.is })
  return { text, outside, problem: found.is }
}

/**
 * Replaces the record and owes its messages in one step, so each difference is reported once, whatever dies. `decide` may be asked again. What Lockkeeper
 * did not write counts as nothing, and is replaced. What an older key signed is signed again, so that this key can be removed. Throws
 * StoreUnavailableError.
 */
async function changeOutside(app: App, decide: (before: Outside, now: number) => Promise<Next | undefined>): Promise<void> {
  for (let attempt = 0; attempt < mostTries; attempt += 1) {
    const { text: before, outside, problem, isOutdated } = await readOutside(app)
    if (problem === 'unreadable') return
    const now = await app.store.now()
    const decided = (await decide(outside, now)) ?? ((problem || isOutdated) && { next: outside, messages: [] })
    if (!decided) return
    const after = seal(app.recordKeyring, 'outside', decided.next)
    const owes = decided.messages.map((message) => owedMessage(app, 'outside', message))
    if ((await replace(app, app.keys.outside, { before, after }, { owes })) !== 'changed') return
  }
  throw new Error('what was seen of the account kept changing while it was written')
}

/** `tried`: when this process tried to read each list, so that one that cannot be read does not hold up the other. */
export interface Comparing {
  tried: Map<ComparedList, number>
  ownChanges: Setup['ownChanges']
}

/** One read of a list a turn: 4 a minute. */
export const turnMsOf = ({ timings }: Pick<App, 'timings'>): number => timings.repeatMs ?? 15_000

/** A turn of the worker: at most one list. */
export async function compareAccount(app: App, { tried, ownChanges }: Comparing): Promise<void> {
  const { outside, problem } = await readOutside(app)
  if (problem === 'unreadable') return
  const now = await app.store.now()
  const list = nextList(app, outside, tried, now)
  const read = list && (await readRows(app, list, now))
  await changeOutside(app, (before, at) => decide(app, before, at, { read, ownChanges }))
}

/** The list whose last copy is the oldest, once the reads of the one before have their time. */
function nextList(app: App, { lists }: Outside, tried: Comparing['tried'], now: number): ComparedList | undefined {
  const times = Object.values(lists).map(({ at, reads }) => ({ at, freeAt: at + (reads - 1) * turnMsOf(app) }))
  // The clock of a Redis that took over may be behind.
  if (times.some(({ at, freeAt }) => at <= now && now < freeAt)) return undefined
  const lastAt = (list: ComparedList) => Math.max(lists[list]?.at ?? 0, tried.get(list) ?? 0)
  const [next] = comparedLists.toSorted((a, b) => lastAt(a) - lastAt(b))
  if (next) tried.set(next, now)
  return next
}

interface ReadRows {
  list: ComparedList
  at: number
  reads: number
  isWhole: boolean
  rows: Row[]
}

/** The shared copy, if that is fresh. Undefined if the list could not be read, or not to its end: the next turn reads the other one. */
async function readRows({ lists }: App, list: ComparedList, now: number): Promise<ReadRows | undefined> {
  const { items, cut, old, isWhole, readAt = old ? undefined : now }: List<ElasticIp | ApiKey> = await lists[list]()
  // An older copy counts if it is newer than the last one. Without Redis its time is unknown.
  if (cut || readAt === undefined) return undefined
  // From 20 items on, the next page is read to find the end.
  const reads = list === 'elasticIps' && items.length >= 20 ? Math.ceil(items.length / 100) + 1 : 1
  return { list, at: readAt, reads, isWhole, rows: items.map((item) => ('address' in item ? rowOf(item) : keyRow(item))) }
}

/** While an address moves, its server is no fact: the end of the move shows where it is. */
function rowOf(elasticIp: ElasticIp): Row {
  const { id, address: name, status, server } = elasticIp
  const isShown = server && status !== 'moving' && !isBgp(elasticIp)
  return { id, name, server: isShown ? { id: server.id, name: server.hostname ?? server.id } : undefined }
}

function keyRow({ id, name = id }: ApiKey): Row {
  return { id, name }
}

/** OPS_CHANNEL gets one message in so many turns, which are 10 minutes, with at most so many changes. */
const turnsPerMessage = 40
const mostUntold = 100

/** Decides what is reported now, and what is seen from now on. Undefined if nothing is new. */
async function decide(
  app: App,
  before: Outside,
  now: number,
  { read, ownChanges }: Pick<Comparing, 'ownChanges'> & { read: ReadRows | undefined },
): Promise<Next | undefined> {
  const next: Outside = { ...before }
  const digestMs = turnsPerMessage * turnMsOf(app)
  const messages: Next['messages'] = []
  const last = read && before.lists[read.list]
  const isNewer = read && (last === undefined || last.at > now || read.at > last.at)
  if (isNewer) {
    const { list, at, reads, rows, isWhole } = read
    const intervalMs = turnMsOf(app) * comparedLists.reduce((sum, each) => sum + (before.lists[each]?.reads ?? 1), 0)
    const interval = { list, at, isWhole, since: last?.at ?? 0, gapMs: Math.max(digestMs, 3 * intervalMs) }
    const { seen, found } = compareLists(before.seen[list], rows, interval)
    next.lists = { ...before.lists, [list]: { at, reads } }
    next.seen = { ...before.seen, [list]: seen }
    next.untold = [...before.untold, ...(await foreignOf(app, found, ownChanges))].slice(0, mostUntold)
  }
  if (next.untold.length > 0 && (now - before.toldAt >= digestMs || before.toldAt > now)) {
    messages.push({ words: changesWords(next.untold).text, items: [] })
    Object.assign(next, { untold: [], toldAt: now })
  }
  return isNewer || messages.length > 0 ? { next, messages } : undefined
}

/** The differences that no request of Lockkeeper explains. */
async function foreignOf(app: App, found: Difference[], ownChanges: Comparing['ownChanges']): Promise<Difference[]> {
  if (found.length === 0) return []
  const resources = found.filter(({ list }) => list === 'elasticIps').map(({ id }) => `elastic_ip:${id}`)
  const [{ requests: open }, ended, last] = await Promise.all([
    app.store.findOpen(),
    app.store.ended(100, () => true),
    app.store.lastChangesOf(resources),
  ])
  const genuine = [...open, ...ended, ...last.values()].filter((request) => app.signatures.verifyRecord(request) === 'genuine')
  const unexplained = found.filter((difference) => !genuine.some((request) => explains(request, difference)))
  const [noted, own] = await Promise.all([notedKeys(app, unexplained), ownChanges(app, unexplained)])
  return unexplained.filter(({ id }) => !noted.has(id) && !own.has(id))
}

/** The keys that Lockkeeper created or deleted since then, as the audit notes it. */
async function notedKeys(app: App, found: Difference[]): Promise<Set<string>> {
  const ids = new Set(found.filter(({ list }) => list === 'apiKeys').map(({ id }) => id))
  if (ids.size === 0) return new Set()
  const since = Math.min(...found.map((each) => each.since))
  const isChange = ({ act, resourceId = '' }: AuditEntry) => ids.has(resourceId) && act !== 'call-for-key-end'
  const entries = await findEntries(app, isChange, { since })
  return new Set(entries.flatMap(({ verdict, resourceId = '' }) => (verdict === 'genuine' ? [resourceId] : [])))
}

const mostListed = 20

/** For the operators: what happened outside Lockkeeper since the last report. */
export function changesWords(changes: Difference[]): Mrkdwn {
  const lines = changes.slice(0, mostListed).map((each) => mrkdwn`•  ${whatWords(each)}`)
  const more = changes.length - lines.length
  return joinMrkdwn([mrkdwn`:eyes: *Changed outside Lockkeeper*`, ...lines, ...(more > 0 ? [mrkdwn`•  ${more} more`] : [])], '\n')
}

function whatWords({ list, name, what, from, to, isGap, since, at }: Difference): Mrkdwn {
  const thing = list === 'apiKeys' ? mrkdwn`API key ${nameWords(labelOf(name))}` : mrkdwn`Elastic IP ${nameWords(name)}`
  const happened =
    what === 'moved' && from && to
      ? mrkdwn`moved from ${nameWords(from.name)} to ${nameWords(to.name)}`
      : mrkdwn`was ${what === 'created' ? 'created' : 'removed'}`
  const gap = isGap
    ? mrkdwn` Lockkeeper didn't check between ${dateTime(since)} and ${dateTime(at)}, so it happened in that time.`
    : mrkdwn``
  return mrkdwn`${thing} ${happened} outside Lockkeeper.${gap}`
}

export function distrustedOutside(problem: OutsideProblem, key: string): Mrkdwn {
  if (problem === 'forged')
    return mrkdwn`:rotating_light: The record in Redis for reporting changes outside Lockkeeper isn't one that Lockkeeper wrote. Lockkeeper replaced it, so changes since the last report aren't reported. Find out who can write to Redis.`
  return mrkdwn`:warning: The record in Redis for reporting changes outside Lockkeeper was signed with a key that it doesn't have, or is of another version. Changes outside Lockkeeper aren't reported. Set ${code('STATE_KEY')} to the new and the old key, separated by a comma. To start over, delete it: ${code(`redis-cli DEL '${key}'`)}.`
}
