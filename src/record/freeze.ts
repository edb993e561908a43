import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Audit } from '../audit/audit.ts'
import type { Freeze } from '../domain/policy.ts'
import type { Keyring } from '../domain/signing.ts'
import { ownFreezeName, startWithinMs } from '../domain/starts.ts'
import { longestAheadMs } from '../domain/times.ts'
import type { Redis } from '../redis/connect.ts'
import { guardStore } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { type OwedFacts, open, readText, replace, seal } from '../redis/sealed.ts'
import { type Distrust, type Revisions, revisedRecord } from './revised.ts'
import type { Store } from './store.ts'

/** Why Lockkeeper stopped everything by itself: Redis lost data or went back, or the record of the freeze cannot be believed. */
const Because = z.enum(['data-lost', 'set-back', 'freeze-missing', 'freeze-older', 'freeze-forged'])

const Planned = z.object({
  /** Names its messages and its button. It also makes two texts of what two processes write at the same moment, of which one is first. */
  id: z.string(),
  setAt: z.number(),
  /** When it begins: then, or later. */
  from: z.number(),
  /** Absent: until somebody lifts it. */
  until: z.number().optional(),
  by: z.string().optional(),
  reason: z.string().optional(),
  /** The channel in which it was set. The message about its end goes there, too. */
  channelId: z.string().optional(),
})

/** The freeze that was set last, also after it was lifted. Times are in ms since 1970 by Redis' clock. */
const FreezeRecord = Planned.extend({
  revision: z.int(),
  /** False once somebody lifted it. Then `by`, `reason` and `channelId` are theirs, and `until` is when. */
  isOn: z.boolean(),
  /** What was frozen before, for as long as an approval can hold: what that held may have waited for its window since. Version 0.1.0 wrote no ids. */
  before: z.array(z.object({ id: z.string().optional(), from: z.number(), to: z.number() })),
  because: Because.optional(),
  /** The one that was on until then, or was planned and then lifted. */
  ends: z.string().optional(),
  /** The one that was planned before: it stays, and is the freeze once this one is over or lifted. */
  next: Planned.optional(),
  /** Whose the one was that was on until then, and until when. */
  replaced: z.object({ by: z.string().optional(), until: z.number().optional() }).optional(),
})
export type FreezeRecord = z.infer<typeof FreezeRecord>

/** Up to when the audit was searched for changes of it, and the highest revision that was known then. */
const Look = z.object({ at: z.number(), seen: z.number() })

/** Why the record is not believed. Then Lockkeeper freezes everything with a new one. */
export type FreezeDistrust = Extract<FreezeRecord['because'], `freeze-${string}`>

export interface FreezeNow {
  /** The text of the record, which a step that sends a write compares. '' without one. */
  text: string
  /** Undefined if nobody has frozen anything yet, and if this process cannot read it. */
  record: FreezeRecord | undefined
  /** It was signed with a key that this process does not have: then nothing starts here. */
  isUnreadable: boolean
  /** What it means for requests, with the time that it held until its end. */
  freezes: Freeze[]
}

/** A freeze that is on now. Undefined if there is none, or if its time is over or has not come. */
export function freezeOnAt(freeze: Pick<FreezeNow, 'record'>, now: number): FreezeRecord | undefined {
  // The clock of a Redis that took over may be behind.
  return freezesSetAt(freeze, now).find(({ from, setAt }) => from <= setAt || from <= now)
}

/** A freeze that is on now, or will be. Undefined if there is none. */
export function freezeSetAt(freeze: Pick<FreezeNow, 'record'>, now: number): FreezeRecord | undefined {
  return freezesSetAt(freeze, now)[0]
}

/** The freeze that was set last, and the one that was planned before, unless they are over or lifted. */
export function freezesSetAt({ record }: Pick<FreezeNow, 'record'>, now: number): FreezeRecord[] {
  return [record, plannedIn(record, now)].filter((each) => each !== undefined && stands(each, now)) as FreezeRecord[]
}

function plannedIn(record: FreezeRecord | undefined, now: number): FreezeRecord | undefined {
  return record?.next && { ...record.next, revision: record.revision, isOn: true, before: spanOf({}, record, now).before }
}

function stands({ isOn, until = Number.POSITIVE_INFINITY }: FreezeRecord, now: number): boolean {
  return isOn && now < until
}

export function isFrozenAt(freeze: Pick<FreezeNow, 'record' | 'isUnreadable'>, now: number): boolean {
  return freeze.isUnreadable || freezeOnAt(freeze, now) !== undefined
}

/** A message about a freeze: that it was set or lifted, that its time has come or is over, in its channel (`here`) or to the operators. */
export function freezeMessageId(id: string, when: 'set' | 'begun' | 'over', where: 'here' | 'ops'): string {
  return `freeze-${id}-${when}-${where}`
}

/** How long a message is owed that Slack does not take, in ms. */
const owedMs = 24 * 3_600_000

/** How long a tick leaves a message to the process that answers the person, in ms. That says so if the message is not posted yet. */
const tellFirstMs = 2_000

/** How often a process notes up to when it knows all changes: a later start reads the audit back to that. */
const noteLookMs = 24 * 3_600_000

interface FreezeApp {
  redis: Redis
  keys: Keys
  audit: Audit
  store: Store
}

type Next = Pick<FreezeRecord, 'by' | 'reason' | 'channelId'>

/** What a process knows of freezes, over all its connections. `look`: its search of the audit. */
export interface FreezeMemory extends Revisions {
  look?: Promise<void> | undefined
  lookedAt?: number
  last?: FreezeNow
}

interface FreezeOptions {
  memory?: FreezeMemory
  opsChannel?: string | undefined
  /** At each read of a record that was signed with an unknown key. */
  onUnknownKey?: () => void
  /** Once in all processes. The operators get a message in any case. */
  onDistrust?: (why: FreezeDistrust) => void
}

interface Found {
  text: string
  now: number
  record: FreezeRecord | undefined
  distrust: Distrust | undefined
}

/**
 * The record of the freeze. What cannot be believed never lets anything start: a record that is forged, gone, or older than one that this process has
 * seen is replaced by one that freezes everything.
 */
export function createFreezes(
  app: FreezeApp,
  keyring: Keyring,
  { memory = { seen: 0 }, opsChannel, onUnknownKey = () => {}, onDistrust = () => {} }: FreezeOptions = {},
) {
  const { redis, keys } = app
  const kind = { name: 'freeze', key: keys.freeze, schema: FreezeRecord, acts: ['freeze', 'unfreeze'] } as const
  const stored = revisedRecord(app, keyring, kind, memory)

  /** Throws StoreUnavailableError. */
  async function find(): Promise<Found> {
    memory.look ??= lookAtAudit().catch((error: unknown) => {
      memory.look = undefined
      throw error
    })
    await memory.look
    for (;;) {
      const [found, now] = await Promise.all([stored.read(), app.store.now()])
      const { text, facts: record, distrust } = found
      // Whatever its revision is, it is missed if it goes.
      if (distrust === 'unknown-key') stored.see(1)
      if (!(await stored.signAgain(found, now))) return { text, now, record, distrust }
    }
  }

  /** Once in each process: a record that was put back, or removed, while no process ran is found by what the audit says since the last look. */
  async function lookAtAudit(): Promise<void> {
    const last = await lastLook()
    stored.see(last.seen)
    await stored.searchAudit(last.at, await app.store.now())
  }

  async function lastLook(): Promise<z.infer<typeof Look>> {
    const found = open(keyring, 'freeze-look', Look, await readText(redis, keys.freezeLook))
    return found.is === 'genuine' ? found.facts : { at: 0, seen: 0 }
  }

  async function noteLook(at: number): Promise<void> {
    memory.lookedAt = at
    await guardStore(() => redis.set(keys.freezeLook, seal(keyring, 'freeze-look', { at, seen: memory.seen })))
  }

  /** Freezes everything first if the record cannot be believed. Throws StoreUnavailableError. */
  async function read(): Promise<FreezeNow> {
    for (;;) {
      const found = await find()
      const { text, now, record, distrust } = found
      const isUnreadable = distrust === 'unknown-key'
      if (isUnreadable) onUnknownKey()
      else if (distrust) {
        const because = `freeze-${distrust}` as const
        if (await change(found, { isOn: true, because })) onDistrust(because)
        continue
      } else if (now - (memory.lookedAt ?? 0) > noteLookMs) await noteLook(now)
      memory.last = { text, record, isUnreadable, freezes: isUnreadable ? everything : freezesOf(record, now) }
      return memory.last
    }
  }

  /** The messages about it. If Redis lost data, the notice about that says that Lockkeeper froze. */
  function owedFor({ id, isOn, by, from, until, channelId, because }: FreezeRecord, facts: string, now: number): OwedFacts[] {
    if (isOn && isLoss(because)) return []
    const isElsewhere = opsChannel !== undefined && opsChannel !== channelId
    const places = [...(channelId === undefined ? [] : (['here'] as const)), ...(isElsewhere ? (['ops'] as const) : [])]
    const owe = (message: string, inMs: number) => ({ id: message, member: `${message}/freeze`, facts, keepMs: inMs + owedMs, inMs })
    return places.flatMap((where) => [
      owe(freezeMessageId(id, 'set', where), by === undefined ? 0 : tellFirstMs),
      ...(isOn && from > now ? [owe(freezeMessageId(id, 'begun', where), from - now)] : []),
      ...(isOn && until !== undefined ? [owe(freezeMessageId(id, 'over', where), until - now)] : []),
    ])
  }

  /** With an audit entry and its messages in the same step. Undefined if somebody else has changed the record since it was read. */
  async function change(
    { text: before, now, record: found }: Found,
    next: Next & Pick<FreezeRecord, 'isOn' | 'because'> & { from?: number | undefined; until?: number | undefined },
  ): Promise<FreezeRecord | undefined> {
    const last = found && stands(found, now) ? found : (plannedIn(found, now) ?? found)
    const on = freezeOnAt({ record: last }, now)
    const ended = next.isOn ? on : freezeSetAt({ record: last }, now)
    const canceled = ended && !on && { from: ended.from, until: ended.until }
    // A freeze at once ends no planned one.
    const kept = freezesSetAt({ record: last }, now).find(({ id }) => id !== ended?.id)
    const planned = kept && Planned.parse(kept)
    const revision = stored.next(now)
    const span = next.isOn ? spanOf(next, last, now) : { ...spanOf({}, last, now), ...last, until: now }
    const channelId = next.isOn ? next.channelId : (last?.channelId ?? next.channelId)
    const { isOn, by, reason, because = isOn ? undefined : last?.because } = next
    const replaced = isOn && ended ? { by: ended.by, until: ended.until } : undefined
    const replaces = { ends: ended?.id, next: planned, replaced }
    const record: FreezeRecord = { ...span, isOn, by, reason, channelId, because, revision, id: randomUUID(), ...replaces }
    const causes = next.because && [{ code: next.because }]
    const time = isOn ? { from: record.from > now ? record.from : undefined, until: record.until } : canceled
    const note = { act: isOn ? 'freeze' : 'unfreeze', revision, by, reason, channelId, ...time, causes }
    const after = seal(keyring, 'freeze', record)
    const owes = owedFor(record, after, now)
    const outcome = await app.audit.noteWith(note, (text) => replace(app, keys.freeze, { before, after }, { note: text, owes }))
    if (outcome === 'changed') return undefined
    stored.see(revision)
    return record
  }

  /**
   * Freezes, at once or from a later time on. It counts in all processes when this resolves. `is-on`: one that begins later would end the one that
   * is on, or will be. `unknown-key`: this process cannot read the record, and writes nothing. Throws StoreUnavailableError.
   */
  async function set(
    next: Next & { from?: number | undefined; until?: number | undefined },
  ): Promise<FreezeRecord | 'is-on' | 'unknown-key'> {
    for (;;) {
      if ((await read()).isUnreadable) return 'unknown-key'
      const found = await find()
      const { distrust, record, now } = found
      if ((next.from ?? now) > now && freezeSetAt({ record }, now)) return 'is-on'
      const changed = distrust ? undefined : await change(found, { ...next, isOn: true })
      if (changed) return changed
    }
  }

  /** Lifts what is on, or else what will be. `which`: the id of the one that is meant. Undefined if that is not on. */
  async function lift(next: Next, which?: string): Promise<FreezeRecord | undefined | 'unknown-key'> {
    for (;;) {
      if ((await read()).isUnreadable) return 'unknown-key'
      const found = await find()
      const { distrust, record, now } = found
      if (distrust) continue
      const set = freezeSetAt({ record }, now)
      if (!set || (which !== undefined && set.id !== which)) return undefined
      const changed = await change(found, { ...next, isOn: false })
      if (changed) return changed
    }
  }

  /**
   * Lockkeeper stops every start by itself, and notes the loss in the audit. All processes notice the same loss, and one of them does it.
   * `since`: the newest revision before the loss. A freeze for a loss that has a later one is for this loss, and stays lifted, even if this process
   * notices the loss later.
   */
  async function stopAll(because: 'data-lost' | 'set-back', since = -1): Promise<void> {
    for (;;) {
      const found = await find()
      const { record, distrust } = found
      if (distrust === 'unknown-key' || (record && isLoss(record.because) && record.revision > since)) return
      if (await change(found, { isOn: true, because })) return
    }
  }

  /** The record in a message that is owed. Undefined if Lockkeeper did not write it. */
  function openMessage(text: string): FreezeRecord | undefined {
    const found = open(keyring, 'freeze', FreezeRecord, text)
    return found.is === 'genuine' ? found.facts : undefined
  }

  /** Reads the record, which every worker does every few seconds, and returns the highest revision that this process has seen. */
  async function newest(): Promise<number> {
    await read()
    return memory.seen
  }

  /** `lastRead`: for messages, which only show it. `lastBy`: whose a freeze was then, by its id. */
  const lastBy = (id: string | undefined) => memory.last && freezesSetAt(memory.last, Date.now()).find((each) => each.id === id)?.by
  return { read, set, lift, stopAll, openMessage, newest, lastRead: () => memory.last, lastBy }
}
export type Freezes = ReturnType<typeof createFreezes>

function isLoss(because: FreezeRecord['because']): because is 'data-lost' | 'set-back' {
  return because === 'data-lost' || because === 'set-back'
}

/** Somebody who freezes and lifts again and again loses the oldest. */
const mostBefore = 50

function spanOf({ from, until }: { from?: number | undefined; until?: number | undefined }, last: FreezeRecord | undefined, now: number) {
  const ended = last ? [...last.before, { id: idOfSpan(last), from: last.from, to: Math.min(last.until ?? now, now) }] : []
  const counts = (span: { from: number; to: number }) => span.from < span.to && span.to > now - longestAheadMs - startWithinMs
  return { setAt: now, from: Math.max(from ?? now, now), until, before: ended.filter(counts).slice(-mostBefore) }
}

/** The id of the freeze whose time a record has, which a lifted one has from it. */
function idOfSpan({ id, isOn, ends }: FreezeRecord): string {
  return isOn ? id : (ends ?? id)
}

/** No approval names it. */
export const unreadableId = 'unreadable'

/** While this process cannot read the record. */
const everything: Freeze[] = [{ name: ownFreezeName, from: 0, to: Number.POSITIVE_INFINITY, ownId: unreadableId }]

function freezesOf(record: FreezeRecord | undefined, now: number): Freeze[] {
  if (!record) return []
  const { setAt, from, before, until = Number.POSITIVE_INFINITY, isOn, next } = record
  // The clock of a Redis that took over may be behind.
  const ended = (to: number) => Math.min(to, now)
  const last = { id: idOfSpan(record), from: from <= setAt ? ended(from) : from, to: isOn ? until : ended(until) }
  const planned = next ? [{ id: next.id, from: next.from, to: next.until ?? Number.POSITIVE_INFINITY }] : []
  const all = [...before.map((span) => ({ ...span, to: ended(span.to) })), last, ...planned]
  return all.map(({ id, ...span }) => ({ name: ownFreezeName, ...span, ownId: id }))
}
