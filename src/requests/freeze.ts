import { z } from 'zod'
import type { App } from '../app.ts'
import { findEntries } from '../audit/find.ts'
import { StoreUnavailableError } from '../domain/errors.ts'
import { holdsOf } from '../domain/hours.ts'
import type { Freeze, PolicyRule } from '../domain/policy.ts'
import type { Passed, Request, Waits } from '../domain/request.ts'
import type { Keyring } from '../domain/signing.ts'
import { approvedAtOf, heldFrom, ownFreezeName, type Signed, type Times, timesFor } from '../domain/starts.ts'
import { longestAheadMs } from '../domain/times.ts'
import { guardStore } from '../redis/connect.ts'
import { readScripts, scriptsOf } from '../redis/scripts.ts'

const run = scriptsOf(readScripts(import.meta.url, ['set-freeze']))

const Span = z.object({ from: z.number(), to: z.number() })

/** What `/infra freeze` and `/infra unfreeze` set last. Times are in ms since 1970 by Redis' clock. */
const FreezeRecord = z.object({
  /** Counted from 1, as in the entries of the audit. 0: there was no freeze yet. */
  number: z.int(),
  isOn: z.boolean(),
  /** The number of the freeze that was on until then. */
  ends: z.int().optional(),
  from: z.number(),
  /** Absent: until somebody lifts it. */
  until: z.number().optional(),
  by: z.string().optional(),
  reason: z.string().optional(),
  /** The channel in which it was set. The message about its end goes there, too. */
  channelId: z.string().optional(),
  /** Set if Lockkeeper stopped everything by itself, because Redis lost data. */
  because: z.enum(['data-lost', 'set-back']).optional(),
  /** The number of the last freeze for a loss of data, also after it was lifted. */
  loss: z.int().optional(),
  /** The freezes of the last 14 days: what they held may start for a while after them. */
  past: z.array(Span),
  /** Up to when the audit was searched for newer entries. */
  searchedUntil: z.number(),
})
export type FreezeRecord = z.infer<typeof FreezeRecord>
const StoredFreeze = FreezeRecord.extend({ signature: z.string() })

/** Why the record cannot be trusted: then nothing starts until somebody lifts it. */
export type FreezeProblem = 'missing' | 'older' | 'forged' | 'unknown-key'

export interface FreezeNow {
  /** The text of the record, which a step that sends a write compares. */
  text: string
  record: FreezeRecord | undefined
  problem: FreezeProblem | undefined
  /** What it means for requests, with the freezes that are over. */
  freezes: Freeze[]
}

/** A freeze that is on now. Undefined if there is none, or if its time is over. */
export function freezeOnAt({ record, problem }: Pick<FreezeNow, 'record' | 'problem'>, now: number): FreezeRecord | undefined {
  return !problem && record?.isOn && (record.until ?? Number.POSITIVE_INFINITY) > now ? record : undefined
}

export function isFrozenAt(freeze: Pick<FreezeNow, 'record' | 'problem'>, now: number): boolean {
  return freeze.problem !== undefined || freezeOnAt(freeze, now) !== undefined
}

/** A message about a freeze: that it was set or lifted, or that its time is over, in its channel (`here`) or to the operators. */
export function freezeMessageId(number: number, when: 'set' | 'over', where: 'here' | 'ops'): string {
  return `freeze-${number}-${when}-${where}`
}

/** How long a message is owed that Slack does not take, in ms. */
const owedMs = 24 * 3_600_000

/** How long what this process found in the audit counts. The step that sends compares the text of the record anyway. */
const searchedForMs = 5_000

/** What the scripts read of a key that is no text. Nothing that Lockkeeper writes is equal to it. */
const noText = 'no text'

const renewAfterMs = 24 * 3_600_000
const clockMarginMs = 60_000

type FreezeApp = Pick<App, 'redis' | 'keys' | 'audit' | 'store'>

type Next = Pick<FreezeRecord, 'isOn' | 'until' | 'by' | 'reason' | 'channelId' | 'because'>

/** What a process knows of freezes, over all its connections. `known`: the highest number that was seen, and until when the audit was searched. */
export interface FreezeMemory {
  known?: { number: number; searchedUntil: number }
  last?: FreezeNow
}

interface FreezeOptions {
  memory?: FreezeMemory
  opsChannel?: string | undefined
  /** Gets why the record cannot be trusted, at each read. */
  onProblem?: (problem: FreezeProblem) => void
}

/** The record of the freeze. Its memory of this process finds a record that somebody removed or replaced by an older one. */
export function createFreezes(
  app: FreezeApp,
  { sign, verify }: Pick<Keyring, 'sign' | 'verify'>,
  { memory = {}, opsChannel, onProblem = () => {} }: FreezeOptions = {},
) {
  const { redis, keys } = app

  const write = (record: FreezeRecord): string => JSON.stringify({ ...record, signature: sign({ signed: 'freeze', ...record }) })

  async function readText(): Promise<string | null> {
    try {
      return await guardStore(() => redis.get(keys.freeze))
    } catch (error) {
      if (error instanceof StoreUnavailableError && error.code === 'WRONGTYPE') return noText
      throw error
    }
  }

  /** Throws StoreUnavailableError. */
  async function read(): Promise<FreezeNow> {
    const [text, now] = await Promise.all([readText(), app.store.now()])
    const { record, verdict } = decode(text ?? '', verify)
    await search(record?.searchedUntil ?? 0, now)
    const highest = memory.known?.number ?? -1
    if (text === null && highest < 0) return begin(now)
    const problem = problemOf(text, verdict, record, highest)
    // Another process may have written a newer one since, which the search has found.
    if (problem && (await readText()) !== text) return read()
    if (record && !problem) memory.known = { number: Math.max(highest, record.number), searchedUntil: memory.known?.searchedUntil ?? 0 }
    if (record && !problem && now - record.searchedUntil > renewAfterMs) await replace(text ?? '', write({ ...record, searchedUntil: now }))
    if (problem) onProblem(problem)
    memory.last = { text: text ?? '', record, problem, freezes: freezesOf(record, problem, now) }
    return memory.last
  }

  /** Finds the newest entry about a freeze, and remembers its number. */
  async function search(since: number, now: number): Promise<void> {
    const { known } = memory
    // The clock of Redis may have been ahead at the last search.
    if (known && Math.abs(now - known.searchedUntil) < searchedForMs) return
    const from = Math.max(0, Math.min(now, known?.searchedUntil ?? since) - clockMarginMs)
    const entries = await findEntries(app, ({ act }) => act === 'freeze' || act === 'unfreeze', { since: from })
    const numbers = entries.filter(({ verdict }) => verdict === 'genuine').map(({ freeze = 0 }) => freeze)
    const number = Math.max(memory.known?.number ?? -1, ...numbers)
    if (number >= 0 || memory.known) memory.known = { number, searchedUntil: now }
  }

  /** Nothing was ever frozen here, as far as Redis can tell. */
  async function begin(now: number): Promise<FreezeNow> {
    const record: FreezeRecord = { number: 0, isOn: false, from: now, past: [], searchedUntil: now }
    await replace('', write(record))
    return read()
  }

  async function replace(before: string, text: string, note = '', owed: { id: string; inMs: number }[] = [], kept = ''): Promise<string[]> {
    const messages = owed.flatMap(({ id, inMs }) => [`${id}/freeze`, String(inMs)])
    const own = [keys.freeze, keys.auditIntake, keys.outbox, keys.auditHead, ...owed.map(({ id }) => keys.message(id))]
    return run(redis, 'set-freeze', own, [before, text, note, String(owedMs), kept, ...messages])
  }

  /** The messages about a freeze that a person set or lifted. If Lockkeeper froze by itself, the notice about the cause says so. */
  function owedFor({ number, isOn, until, channelId, because }: FreezeRecord, now: number): { id: string; inMs: number }[] {
    if (because) return []
    const isElsewhere = opsChannel !== undefined && opsChannel !== channelId
    const places = [...(channelId === undefined ? [] : (['here'] as const)), ...(isElsewhere ? (['ops'] as const) : [])]
    return places.flatMap((where) => [
      { id: freezeMessageId(number, 'set', where), inMs: 0 },
      ...(isOn && until !== undefined ? [{ id: freezeMessageId(number, 'over', where), inMs: until - now }] : []),
    ])
  }

  /** Freezes or lifts, with an audit entry and its messages in the same step. It counts in all processes when this resolves. Throws StoreUnavailableError. */
  async function set(next: Next): Promise<FreezeRecord> {
    return (await setIf(next, () => true)) as FreezeRecord
  }

  /** Lifts what is on: this freeze, or one that cannot be trusted. Undefined if that is not on. */
  function lift(next: Omit<Next, 'isOn'>, which?: number | 'untrusted'): Promise<FreezeRecord | undefined> {
    return setIf({ ...next, isOn: false }, (before, now) => {
      if (which === undefined) return isFrozenAt(before, now)
      return which === 'untrusted' ? before.problem !== undefined : freezeOnAt(before, now)?.number === which
    })
  }

  /**
   * Lockkeeper stops every start by itself, and notes the loss in the audit. All processes notice the same loss, and one of them does it.
   * `since`: the newest freeze before the loss. One that was set for an earlier loss says nothing about this one. One that was set for this loss
   * stays lifted, even if this process notices the loss later.
   */
  async function stopAll(because: FreezeRecord['because'], since = -1): Promise<void> {
    await setIf({ isOn: true, because }, ({ problem, record }) => problem !== undefined || (record?.loss ?? -1) <= since)
  }

  async function setIf(next: Next, isWanted: (before: FreezeNow, now: number) => boolean): Promise<FreezeRecord | undefined> {
    for (;;) {
      const before = await read()
      const now = await app.store.now()
      if (!isWanted(before, now)) return undefined
      const on = freezeOnAt(before, now)
      // One that cannot be trusted counts as nothing, and prolongs nothing.
      const trusted = before.problem ? undefined : before.record
      const number = Math.max(memory.known?.number ?? 0, trusted?.number ?? 0) + 1
      const past = [...(trusted?.past ?? []), ...spanOf(trusted, now)].filter(({ to }) => to > now - longestAheadMs)
      const channelId = next.isOn ? next.channelId : (on?.channelId ?? next.channelId)
      const loss = next.because ? number : trusted?.loss
      const record: FreezeRecord = { ...next, channelId, number, ends: on?.number, from: now, loss, past, searchedUntil: now }
      const { isOn, by, reason, until, because } = next
      const causes = because && [{ code: because }]
      // Nobody can change what is before this entry unnoticed, because the verification counts on it.
      const kept = because && (await app.audit.readHead())
      const note = { act: isOn ? 'freeze' : 'unfreeze', by, reason, channelId, freeze: number, until, causes, kept }
      const [outcome] = await app.audit.noteWith(
        note,
        (text) => replace(before.text, write(record), text, owedFor(record, now), kept?.hash),
        ([set, repeat]) => (set !== 'set' ? 'not-written' : repeat === undefined ? 'written' : 'unknown'),
      )
      if (outcome !== 'set') continue
      memory.known = { number: Math.max(memory.known?.number ?? 0, number), searchedUntil: memory.known?.searchedUntil ?? 0 }
      return record
    }
  }

  /** The record in a message that is owed. Undefined if Lockkeeper did not write it. */
  function genuine(text: string): FreezeRecord | undefined {
    const { record, verdict } = decode(text, verify)
    return verdict === 'genuine' ? record : undefined
  }

  /** The number of the newest freeze that this process has seen. */
  const newest = async () => memory.known?.number ?? (await read()).record?.number

  /** `lastRead`: for messages, which only show it. */
  return { read, set, lift, stopAll, genuine, newest, lastRead: () => memory.last }
}
export type Freezes = ReturnType<typeof createFreezes>

/** When a request may start, by what was signed about it, its rule and the freezes. */
export function timesOf(
  app: Pick<App, 'catalog' | 'config' | 'access' | 'signatures'>,
  request: Request,
  freezes: Freeze[],
): { signed: Signed; times: Times } {
  const { kind, start, startNow } = request
  const rule = app.access.ruleOf(request)
  const change = { kind, project: app.catalog.projectOf(request), emergencyAt: emergencyAt(app.signatures, request, rule) }
  const times = timesFor(app.config.policy, rule, change, freezes)
  const isGenuine = startNow && app.signatures.verifyStartNow(request, startNow) === 'genuine'
  return { signed: { approvedAt: approvedAtOf(request), start, startNow: isGenuine ? startNow : undefined }, times }
}

/** When an emergency approval of the request was given last. Undefined if there is none that is genuine and that its rule still allows. */
function emergencyAt(signatures: App['signatures'], request: Request, rule: PolicyRule | undefined): number | undefined {
  const { needsApproval, decision, approvals, origin } = request
  if (!needsApproval) return undefined
  if (decision?.breakGlass) return signatures.verifyBreakGlass(request, decision) === 'genuine' ? (decision.at ?? 0) : undefined
  if (!rule?.emergency) return undefined
  const given = approvals.filter((each) => each.emergency && each.by !== origin.userId)
  const genuine = given.filter((each) => signatures.verifyApproval(request, each) === 'genuine')
  return genuine.length === 0 ? undefined : Math.max(...genuine.map(({ at }) => at))
}

/** What would hold the request if it were approved now, in order, when it may start. `passed`: what an emergency approval that is given now passes. */
export async function holdsIfApproved(app: App, request: Request): Promise<{ held: Waits | undefined; passed: Passed[] }> {
  const { freezes } = await app.freezes.read()
  const now = await app.store.now()
  const { signed, times } = timesOf(app, request, freezes)
  const held = heldFrom(now, { ...signed, approvedAt: now }, times)?.waits
  const { times: unpassed } = timesOf(app, { ...request, decision: undefined, approvals: [] }, freezes)
  const passable = { ...unpassed, freezes: unpassed.freezes.filter(({ passableFrom = 0 }) => now >= passableFrom) }
  const holds = holdsOf(passable, passable, Math.max(now, request.start ?? 0))
  // A start that was requested is no surprise.
  return {
    held: held?.for === 'start' && held.name === undefined ? undefined : held,
    passed: holds.map(({ until, ...hold }) => ({ ...hold, until: Number.isFinite(until) ? until : undefined })),
  }
}

function decode(text: string, verify: Keyring['verify']) {
  try {
    const { signature, ...record } = StoredFreeze.parse(JSON.parse(text))
    return { record, verdict: verify({ signed: 'freeze', ...record }, signature) }
  } catch {
    return { record: undefined, verdict: 'forged' as const }
  }
}

function problemOf(
  text: string | null,
  verdict: ReturnType<Keyring['verify']>,
  record: FreezeRecord | undefined,
  highest: number,
): FreezeProblem | undefined {
  if (text === null) return 'missing'
  if (verdict === 'unknown-key') return 'unknown-key'
  if (verdict !== 'genuine' || !record) return 'forged'
  return record.number < highest ? 'older' : undefined
}

/** When the freeze was on that is now replaced. */
function spanOf(record: FreezeRecord | undefined, now: number): z.infer<typeof Span>[] {
  return record?.isOn ? [{ from: record.from, to: Math.min(now, record.until ?? now) }] : []
}

function freezesOf(record: FreezeRecord | undefined, problem: FreezeProblem | undefined, now: number): Freeze[] {
  const endless = { name: ownFreezeName, from: 0, to: Number.POSITIVE_INFINITY }
  // Nobody knows since when.
  if (problem || !record) return [{ ...endless, passableFrom: Number.POSITIVE_INFINITY }]
  const past = record.past.map((span) => ({ name: ownFreezeName, ...span }))
  // The clock of a Redis that took over may be behind.
  const from = Math.min(record.from, now)
  const passableFrom = record.because && record.from
  return record.isOn ? [...past, { ...endless, from, to: record.until ?? endless.to, passableFrom }] : past
}
