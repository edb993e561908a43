import type { AuditEntry } from '../../audit/entry.ts'
import { type AccountEvent, mayChange, wordsOfAction } from '../../domain/account-event.ts'
import type { Catalog } from '../../requests/catalog.ts'
import type { StepName } from '../../requests/steps.ts'

/** The account writes an event so long after the bot's own note at the most, or before it, where their clocks differ. */
const latestMs = 2 * 60_000
const earliestMs = -10_000

/** What the account may call what the bot does. */
type EventActions = Pick<Catalog, 'changeIfKnown'>

/** Whether a step tells of a write, or of what came of it. */
const tellsOfWrite: Record<StepName, boolean> = {
  approve: false,
  'count-approval': false,
  exempt: false,
  'break-glass': false,
  reject: false,
  withdraw: false,
  'withdraw-key': false,
  'remind-half': false,
  'remind-last': false,
  expire: false,
  'expire-approved': false,
  void: false,
  drop: false,
  send: true,
  issue: true,
  accept: true,
  late: false,
  finish: true,
  fail: true,
  'fail-begun': true,
  supersede: true,
  'not-start': true,
  restart: true,
  'correct-to-done': true,
  'correct-to-failed': true,
  'correct-to-superseded': true,
  'correct-to-not-started': true,
  'stop-tracking': false,
  'track-again': false,
}

const writeActs = new Set(['answer', ...Object.entries(tellsOfWrite).flatMap(([name, tells]) => (tells ? [name] : []))])

/** A write of the bot's own: of what, called how, noted when, and by which entry. */
interface Write {
  targetId: string
  actions: string[]
  sentAt: number
  until: number
  entry: AuditEntry
}

/**
 * An event, and what it is: `confirms` what an entry says; a change made `outside` this bot (`beside`: at the time of one of the bot's
 * own, which another event confirms); `harmless`, which changed nothing; `unjudged`, from before the entries that were looked at, or
 * without a time.
 */
export type JudgedEvent = { event: AccountEvent; at: number | undefined } & (
  | { is: 'confirms'; entry: AuditEntry }
  | { is: 'outside'; beside: boolean }
  | { is: 'harmless' }
  | { is: 'unjudged' }
)

/** The id that the account knows a resource by: `elastic_ip:eip_1` is `eip_1`. A key that is not made yet has none. Pure. */
export function targetIdOf(resource: string): string | undefined {
  return resource.startsWith('api_key_name:') ? undefined : resource.slice(resource.indexOf(':') + 1)
}

/** The id of what an entry says a write made. */
export function madeIdOf({ resourceId, causes = [] }: AuditEntry): string | undefined {
  return resourceId ?? causes.map((cause) => cause.resourceId).find((id) => typeof id === 'string')
}

/** Whether an entry can tell of a write to one of these. What a new key became shows only in the entries of its name. Pure. */
export function isAboutWrite(entry: AuditEntry, targetIds: Set<string>): boolean {
  const { act, resource = '' } = entry
  return writeActs.has(act) && (resource.startsWith('api_key_name:') || targetIds.has(targetIdOf(resource) ?? ''))
}

/**
 * What each event is, by the bot's own writes. A write has one event, the nearest: another one at the same time was made by somebody
 * else. `since`: from when on all writes are known; undefined where they all are. Pure.
 */
export function judgeEvents(
  events: AccountEvent[],
  entries: AuditEntry[],
  since: number | undefined,
  catalog: EventActions,
): JudgedEvent[] {
  const timed = events.map((event) => ({ event, at: timeOf(event), words: wordsOfAction(event.action) }))
  const pairs = writesOf(entries, catalog)
    .flatMap((write) =>
      timed.flatMap((one) => (one.at !== undefined && fits({ ...one, at: one.at }, write) ? [{ ...one, at: one.at, write }] : [])),
    )
    .toSorted((a, b) => Math.abs(a.at - a.write.sentAt) - Math.abs(b.at - b.write.sentAt))
  const confirmed = new Map<AccountEvent, AuditEntry>()
  const settled = new Set<Write>()
  for (const { event, write } of pairs) {
    if (confirmed.has(event) || settled.has(write)) continue
    confirmed.set(event, write.entry)
    settled.add(write)
  }
  const near = new Set(pairs.map(({ event }) => event))

  return timed.map(({ event, at }): JudgedEvent => {
    const entry = confirmed.get(event)
    if (entry) return { event, at, is: 'confirms', entry }
    if (!mayChange(event)) return { event, at, is: 'harmless' }
    if (at === undefined || (since !== undefined && at < since)) return { event, at, is: 'unjudged' }
    return { event, at, is: 'outside', beside: near.has(event) }
  })
}

function timeOf({ createdAt }: AccountEvent): number | undefined {
  const at = Date.parse(createdAt ?? '')
  return Number.isNaN(at) ? undefined : at
}

function fits(
  { event, at, words }: { event: AccountEvent; at: number; words: string[] },
  { targetId, actions, sentAt, until }: Write,
): boolean {
  return event.target?.id === targetId && at >= sentAt + earliestMs && at <= until && words.some((word) => actions.includes(word))
}

function writesOf(entries: AuditEntry[], catalog: EventActions): Write[] {
  const requests = new Map<string, AuditEntry[]>()
  for (const entry of entries.toSorted((a, b) => a.seq - b.seq)) {
    if (entry.requestId === undefined || !writeActs.has(entry.act)) continue
    requests.set(entry.requestId, [...(requests.get(entry.requestId) ?? []), entry])
  }
  return [...requests.values()].flatMap((one) => writesOfRequest(one, catalog))
}

/** None where the account said no, or where nothing came of it: whatever happened then was not this. */
function writesOfRequest(entries: AuditEntry[], catalog: EventActions): Write[] {
  const send = entries.find(({ act }) => act === 'send' || act === 'issue')
  const change = catalog.changeIfKnown(send?.kind ?? '')
  const targetId = targetIdOf(send?.resource ?? '') ?? entries.map(madeIdOf).find((id) => id !== undefined)
  const outcome = entries.findLast((entry) => isEnd(entry) || entry.act === 'restart')
  if (!send || !change || !targetId || entries.some(isRefused) || outcome?.to === 'not-started') return []

  const accepted = entries.findLast(({ act }) => act === 'accept' || act === 'answer' || act === 'restart')
  const write = { targetId, actions: change.eventActions, sentAt: send.at, until: (accepted?.at ?? send.at) + latestMs, entry: send }
  // A secret that nobody has seen is made worthless: the bot deletes the key.
  const failed = entries.findLast((entry) => isEnd(entry) && entry.to === 'failed')
  const retractActions = change.handover?.retractActions
  const takenBack = failed && retractActions ? [{ ...write, actions: retractActions, until: failed.at + latestMs, entry: failed }] : []
  return [write, ...takenBack]
}

/** What came of a write, by the steps that say so. */
const ends = new Set<string>([
  'finish',
  'fail',
  'fail-begun',
  'supersede',
  'not-start',
  'correct-to-done',
  'correct-to-failed',
  'correct-to-superseded',
  'correct-to-not-started',
] satisfies StepName[])

function isEnd({ act }: Pick<AuditEntry, 'act'>): boolean {
  return ends.has(act)
}

/** Whether the account refused the write. A 408 and a 429 may come from something in front of it. */
function isRefused({ answer }: AuditEntry): boolean {
  const status = answer?.status ?? 0
  return status >= 400 && status < 500 && status !== 408 && status !== 429
}
