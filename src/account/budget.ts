import { randomUUID } from 'node:crypto'
import { isMachine } from '../domain/approval.ts'
import { StoreUnavailableError } from '../domain/errors.ts'
import { type CallKind, type Spender, writesForChanges } from '../domain/lane.ts'
import { guardStore, type Redis } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { readScripts, scriptsOf } from '../redis/scripts.ts'

const scripts = scriptsOf(readScripts(import.meta.url, ['take-turn']))

/** The account counts a call when it arrives, up to this much later than here. */
const travelMs = 2_000

/** How long after a write has asked for its turn it may be sent, in ms. Later, a window of the account could hold one write too many. */
export const turnValidMs = travelMs

/**
 * Of 60 reads a minute: those that only `send` may spend, those that `background` may spend, and of these the ones that the lists of one
 * machine may spend, and the ones for Lockkeeper's own snapshots and comparisons, whatever machines and people list.
 */
const keptForSend = 10
const mostInBackground = 6
const mostOfOneMachine = 2
const keptForOwn = 2

/** How many reads a minute the lists of one machine may spend. */
export function readsOfMachine(perMinute: number): number {
  return Math.max(1, part(mostOfOneMachine, perMinute))
}

interface AccountBudgetParts {
  redis: Redis
  keys: Keys
  /** What the account allows one key, in any 60 s (vendor's API reference, "Rate limits": 60 and 20). */
  readsPerMinute: number
  writesPerMinute: number
  pollBudget: number
  windowMs?: number | undefined
  /** Called when a read is not sent only because this person has spent their share, of so many reads a minute. */
  onShareSpent?: (userId: string, share: number) => void
}

const lanesOf = { read: ['send', 'person', 'track', 'background'], write: ['change', 'bundle', 'retract'] } as const
type NamedLane = (typeof lanesOf)[CallKind][number]

/** Counted in Redis for all processes: no window of 60 s holds more calls than the account allows. Times are in ms, by Redis' clock. */
export function createAccountBudget(parts: AccountBudgetParts) {
  const { redis, keys, readsPerMinute, writesPerMinute, pollBudget, windowMs = 60_000, onShareSpent } = parts
  const run = scripts.bind(undefined, redis)
  const window = windowMs + Math.round((travelMs * windowMs) / 60_000)
  const shareOfPerson = Math.max(1, Math.floor((readsPerMinute - share(keptForSend, readsPerMinute)) / 3))
  const withoutRedis = createReadsWithoutRedis(window, Math.floor(readsPerMinute / 10))

  /** Returns 0, or how long to wait. Throws StoreUnavailableError for a call that cannot be counted: then no write is sent, and few reads. */
  async function take(kind: CallKind, by: Spender): Promise<number> {
    try {
      const wait = await ask(kind, by, randomUUID())
      if (kind === 'read') withoutRedis.end()
      return wait
    } catch (error) {
      if (kind === 'write' || !(error instanceof StoreUnavailableError)) throw error
      if (withoutRedis.take()) return 0
      throw error
    }
  }

  async function spentShare(kind: CallKind, { lane, userId }: Spender): Promise<number | undefined> {
    if (kind === 'write' || lane !== 'person' || userId === undefined) return undefined
    if ((await ask('read', { lane }).catch(() => 1)) > 0) return undefined
    onShareSpent?.(userId, shareOfPerson)
    return shareOfPerson
  }

  async function ask(kind: CallKind, { lane, userId }: Spender, token = '', waiter = ''): Promise<number> {
    const named = nameLane(kind, lane)
    const { adds, limits } = rulesOf(kind, named, userId)
    const { calls, counts, pause, waiting } = keys.accountBudget(kind)
    const uncounted = token !== '' && kind === 'read' ? withoutRedis.ages().join('|') : ''
    const first = named === 'bundle' ? 'first' : ''
    const others = kind === 'read' && userId !== undefined && !isMachine({ userId }) ? named : ''
    const pairs = Object.entries(limits).flatMap(([name, most]) => [name, String(most)])
    const values = [String(window), token, adds.join('|'), waiter, first, uncounted, others, ...pairs]
    const [wait] = await run('take-turn', [calls, counts, pause, waiting], values)
    return Number(wait)
  }

  /** Returns what a call counts for, and the limits of these counts. `other`: everything but what is kept for the first lane. */
  function rulesOf(kind: CallKind, lane: NamedLane, userId: string | undefined): { adds: string[]; limits: Record<string, number> } {
    const total = kind === 'read' ? readsPerMinute : writesPerMinute
    const kept = kind === 'read' ? share(keptForSend, total) : total - writesForChanges(total)
    if (lane === 'send' || lane === 'retract') return { adds: ['total', lane], limits: { total } }
    const adds = ['total', 'other', lane]
    const limits: Record<string, number> = { total, other: total - kept }
    if (kind === 'write') return { adds, limits }
    if (lane === 'track') limits.track = pollBudget
    // The smallest allowance has one read for machines, too, and one of its own.
    const own = Math.max(1, share(keptForOwn, total))
    const background = Math.max(own + 1, part(mostInBackground, total))
    if (lane === 'background') limits.background = background
    if (lane === 'background' && userId === undefined) return { adds, limits }
    adds.push('shared')
    limits.shared = total - kept - own
    if (userId === undefined) return { adds, limits }
    adds.push(`user:${userId}`)
    if (lane === 'background') {
      adds.push('machines')
      Object.assign(limits, { machines: background - own, [`user:${userId}`]: readsOfMachine(total) })
    }
    // Otherwise one person who lists again and again would leave the others nothing.
    if (lane === 'person') limits[`user:${userId}`] = shareOfPerson
    return { adds, limits }
  }

  /** Takes a turn before what allows the write: the step of an approved request, or the last look at a record. Returns 0, or else how long to wait. */
  async function takeWrite(lane: 'send' | 'bundle' | 'retract', requestId = ''): Promise<number> {
    return ask('write', { lane }, randomUUID(), lane === 'send' ? requestId : '')
  }

  /** Returns how long a write would have to wait now. A single one that has to wait goes before those of bundles. */
  async function waitForWrite(lane: 'send' | 'bundle', requestId: string): Promise<number> {
    return ask('write', { lane }, '', lane === 'send' ? requestId : '')
  }

  /** Lets no call of this kind go out for this long, in no process, after the account API has refused one. */
  async function pause(kind: CallKind, ms: number): Promise<void> {
    const name = keys.accountBudget(kind).pause
    const lasts = Math.max(1, Math.ceil(ms))
    // A shorter one must not end the one before.
    await guardStore(() => redis.multi().set(name, '1', 'PX', lasts, 'NX').pexpire(name, lasts, 'GT').exec())
  }

  /** How many calls the last minute had, and how long the next would wait, in ms. Throws StoreUnavailableError. */
  async function figures() {
    const kinds = ['read', 'write'] as const
    const ofKinds = kinds.map(async (kind) => {
      const lanes = lanesOf[kind].map((lane) => ({ lane, asked: lane === 'change' ? ('send' as const) : lane }))
      // Asking drops the calls that are older than a minute, so the counts are read afterwards.
      const waits = await Promise.all(lanes.map(({ asked }) => ask(kind, { lane: asked })))
      const counts = await guardStore(() => redis.hgetall(keys.accountBudget(kind).counts))
      return lanes.map(({ lane }, index) => ({ kind, lane, used: Number(counts[lane] ?? 0), waitMs: waits[index] ?? 0 }))
    })
    return (await Promise.all(ofKinds)).flat()
  }

  const perMinute = { read: readsPerMinute, write: writesPerMinute }
  return { take, spentShare, pause, takeWrite, waitForWrite, perMinute, figures }
}
export type AccountBudget = ReturnType<typeof createAccountBudget>

function nameLane(kind: CallKind, lane: Spender['lane']): NamedLane {
  if (kind === 'read') return lane === 'bundle' || lane === 'retract' ? 'send' : lane
  return lane === 'bundle' || lane === 'retract' ? lane : 'change'
}

/** What is kept: the same part of a smaller allowance than the documented 60. A larger one keeps no more. */
function share(of: number, allowance: number): number {
  return Math.min(of, part(of, allowance))
}

function part(of: number, allowance: number): number {
  return Math.floor((allowance * of) / 60)
}

/** Starts none for a whole window, as all may be spent, and then a tenth of the allowance, so that up to ten processes stay within it. */
function createReadsWithoutRedis(window: number, most: number) {
  let since: number | undefined
  let sent: number[] = []

  function take(): boolean {
    const now = performance.now()
    since ??= now
    if (now - since < window) return false
    sent = sent.filter((at) => now - at < window)
    if (sent.length >= most) return false
    sent.push(now)
    return true
  }

  /** The ages in ms of the last reads that no process has counted yet. */
  function ages(): number[] {
    const now = performance.now()
    return sent.map((at) => Math.round(now - at))
  }

  function end(): void {
    since = undefined
    sent = []
  }

  return { take, ages, end }
}
