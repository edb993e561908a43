import type { Finding } from '../domain/change.ts'
import type { Deadline } from '../domain/deadline.ts'
import type { AuthorityProblem, Waits } from '../domain/request.ts'
import { heldFrom, type Signed, type Times } from '../domain/starts.ts'
import type { CommonFinding } from '../messages/why-not.ts'
import type { judgeStart } from '../rights/judge.ts'

/**
 * `unchanged`: the write may be sent, with these facts. `changed`: the account is not as it was approved. `refused`: the account API
 * refuses the change permanently. `limited`: no read may be sent yet. `unread`: the account could not be read this time; `cause` ends the request if
 * that lasts.
 */
export type PreflightResult =
  | { is: 'unchanged'; facts: unknown }
  | { is: 'changed'; causes: Finding[] }
  | { is: 'refused'; cause: CommonFinding }
  | { is: 'limited'; waitMs: number }
  | { is: 'unread'; cause: CommonFinding }

/** What stands between an approval and its write. Absent: not looked at yet. Times are in ms since 1970 by Redis' clock. */
export interface WriteFacts {
  /** When the record of the freeze was read, so that one that was set meanwhile has begun. */
  now: number
  /** Until when it may start, whatever it waits for. */
  until: number
  /** How much longer it waits for the account API, at most, so that it ends with what that answered. */
  ttlMs: number
  signed: Signed
  times: Times
  /** What its record, its signatures, its approvals and the policy have against it. */
  approval: AuthorityProblem | undefined
  /** Whether its people may still request and approve it. */
  rights?: Awaited<ReturnType<typeof judgeStart>>
  /** What the audit has against it: that it was sent before, or has ended. */
  past?: AuthorityProblem | 'clear'
  /** How long the account allows no write. */
  writeInMs?: number
  /** What the repeated preflight check found, and when it began and ended. */
  account?: { result: PreflightResult; begunAt: number; readAt: number }
  /** Approval and audit once more, by what the account shows now. `isFull`: as many children are being sent as may be. */
  atWrite?: { problem: AuthorityProblem | undefined; isFull: boolean }
  /** The turn for the write that was taken, or how long there is none. */
  turn?: { inMs: number; ends: Deadline }
}

/** What is looked at next: each costs reads, so it is looked at only if nothing before it forbids the write. */
export type Look = 'rights' | 'past' | 'writeInMs' | 'account' | 'atWrite' | 'turn'

/**
 * `write`: with these facts of the account, which were read from then on. `look`: at this first. `hold`, `await-turn`, `await-account`: its message says
 * so. `again`: it is judged again in so many ms. `full`: other children go first. `end`: not sent. `distrust`: the same, or a wait for the key, and
 * operators are notified. `void`: the account is not as it was approved.
 */
export type MayWrite =
  | { is: 'write'; facts: unknown; readFrom: number; turn: Deadline }
  | { is: 'look'; at: Look }
  | { is: 'hold'; waits: Waits; at: number }
  | { is: 'await-turn'; for: 'reads' | 'writes'; waitMs: number }
  | { is: 'await-account'; isRefused: boolean }
  | { is: 'again'; inMs: number }
  | { is: 'full' }
  | { is: 'end'; cause: CommonFinding }
  | { is: 'distrust'; problem: AuthorityProblem }
  | { is: 'void'; causes: Finding[] }

/** When it is judged again if Slack or the account API did not answer. */
export const retryMs = 10_000

const missed: MayWrite = { is: 'end', cause: { code: 'approved-too-long-ago' } }

/** Decides whether the write of an approved request may be sent. The last look is at the turn, after which nothing is read before the write. */
export function mayWriteNow(facts: WriteFacts): MayWrite {
  const { now, until, signed, times, approval, rights, past, writeInMs, account } = facts
  const held = heldFrom(now, signed, times)
  // One that began after its time kept it from nothing.
  const wasHeld = held?.waits.for === 'freeze' && now >= until && heldFrom(until - 1, signed, times) !== undefined
  const tooLate: MayWrite = wasHeld ? { is: 'end', cause: { code: 'frozen-too-long' } } : missed
  if (now >= until + facts.ttlMs) return tooLate
  // Before the account is read: a record that somebody changed must not be reported as a change of the account.
  if (approval && approval.code !== 'approved-too-long-ago') return { is: 'distrust', problem: approval }
  // A freeze may be lifted before its end. A window that has closed does not open earlier.
  if (held?.waits.for === 'window' && (now >= until || held.at > until)) return { is: 'end', cause: { code: 'window-missed' } }
  if (held && now >= until) return tooLate
  if (held) return { is: 'hold', ...held }
  if (rights === undefined) return { is: 'look', at: 'rights' }
  if (rights === 'no-answer' && now < until) return { is: 'again', inMs: retryMs }
  if (past === undefined) return { is: 'look', at: 'past' }
  if (past !== 'clear') return { is: 'distrust', problem: past }
  if (rights !== 'allowed') return { is: 'end', cause: { code: rights === 'no-answer' ? 'rights-unknown' : rights } }
  if (writeInMs === undefined) return { is: 'look', at: 'writeInMs' }
  // Without a turn, the reads would be in vain.
  if (writeInMs > 0) return awaitTurn('writes', writeInMs, now, facts)
  return account ? mayWriteAfter(account, facts) : { is: 'look', at: 'account' }
}

function mayWriteAfter({ result, begunAt, readAt }: NonNullable<WriteFacts['account']>, facts: WriteFacts): MayWrite {
  const { until, signed, times, approval, atWrite, turn } = facts
  if (result.is === 'changed') return { is: 'void', causes: result.causes }
  if (result.is === 'refused') return { is: 'end', cause: result.cause }
  if (result.is === 'limited') return awaitTurn('reads', result.waitMs, readAt, facts)
  if (result.is === 'unread' && readAt >= until) return { is: 'end', cause: result.cause }
  if (result.is === 'unread') return { is: 'await-account', isRefused: 'refusal' in result.cause }
  if (!atWrite) return { is: 'look', at: 'atWrite' }
  const problem = atWrite.problem ?? approval
  if (problem) return { is: 'distrust', problem }
  // Its window may have closed meanwhile, or a freeze that was known before may have begun.
  if (heldFrom(readAt, signed, times)) return { is: 'again', inMs: 0 }
  if (atWrite.isFull) return { is: 'full' }
  if (!turn) return { is: 'look', at: 'turn' }
  if (turn.inMs > 0) return awaitTurn('writes', turn.inMs, readAt, facts)
  return { is: 'write', facts: result.facts, readFrom: begunAt, turn: turn.ends }
}

function awaitTurn(what: 'reads' | 'writes', waitMs: number, now: number, { until }: WriteFacts): MayWrite {
  return now < until ? { is: 'await-turn', for: what, waitMs } : { is: 'end', cause: { code: 'limit-used-up' } }
}
