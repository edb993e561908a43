import { earliestStart, type Held, type Hours, holdsOf } from './hours.ts'
import type { Freeze, Policy, PolicyRule } from './policy.ts'
import type { Approval, Passed, Request, Waits } from './request.ts'
import { longestAheadMs } from './times.ts'

/** How long after its time an approved request may start, whatever kept it waiting. After that it is missed. */
export const startWithinMs = 30 * 60_000

/** The name of the freeze that people set by the command. Those of the policy have names of their own. */
export const ownFreezeName = 'freeze by command'

/** What decides when a request may start, besides what people signed: the windows of its rule, and the freezes that cover it. `tooLateAt`: when nobody can press its button any more. */
export type Times = Hours & Held & { tooLateAt?: number | undefined }

/**
 * `freezes`: those of `/infra freeze` and of Lockkeeper itself. `passed`: what its genuine emergency approvals name. Any passes windows and freezes
 * of the policy, but another freeze only if it was on then: the approval may be from before what that is about. Clocks cannot tell that, because another
 * Redis may have taken over.
 */
export function timesFor(
  policy: Policy,
  rule: PolicyRule | undefined,
  { kind, project, passed }: Held & { passed?: Passed[] | undefined },
  freezes: Freeze[],
): Times {
  const all = [...(policy.freezes ?? []), ...freezes]
  if (passed === undefined) return { windows: rule?.windows ?? [], freezes: all, kind, project }
  return { windows: [], freezes: all.filter((each) => !passes(passed, each)), kind, project }
}

function passes(passed: Passed[], { ownId }: Freeze): boolean {
  return ownId === undefined || passed.some(({ id }) => id === ownId)
}

/** What people signed about when a request starts. Times are in ms since 1970. */
export interface Signed {
  approvedAt: number
  start?: number | undefined
  startNow?: Pick<Approval, 'at'> | undefined
}

/**
 * When the last approval was given, of a request whose approvals were verified. One that needs none waits for its request message: nobody signs
 * when that was posted, so it counts for as long as others can be approved.
 */
export function approvedAtOf({ needsApproval, decision, decidedAt, approvals, createdAt, ttlMs }: Request): number {
  if (!needsApproval) return Math.min(Math.max(decidedAt ?? createdAt, createdAt), createdAt + ttlMs)
  if (decision?.breakGlass) return decision.at ?? createdAt
  return approvals.length === 0 ? createdAt : Math.max(...approvals.map(({ at }) => at))
}

function earliestOf({ approvedAt, start, startNow }: Signed): number {
  return startNow ? Math.max(approvedAt, startNow.at) : Math.max(approvedAt, start ?? approvedAt)
}

/** The latest of its approval, its start, the opening of its window and the end of a freeze, and at most 14 days after the approval. */
function dueOf(signed: Signed, times: Times, withinMs: number): number {
  const last = signed.approvedAt + longestAheadMs
  let at = earliestOf(signed)
  while (at < last) {
    const due = earliestStart(times, times, at).at
    if (due >= last) return last
    // A freeze may begin while the request waits for the account, for its turn, or for somebody's press.
    const begins = ({ from }: Freeze) => from > due && from <= due + withinMs && holdsOf({ ...times, windows: [] }, times, from).length > 0
    const freeze = times.freezes.find(begins)
    // A window may have closed by the time of the press. One that has just opened leaves all of it.
    const closes = withinMs > startWithinMs && !isClosed(times, due - 1) && isClosed(times, due + withinMs)
    if (!freeze && !closes) return due
    at = freeze?.from ?? due + withinMs
  }
  return last
}

function isClosed(times: Times, at: number): boolean {
  return holdsOf({ ...times, freezes: [] }, times, at).length > 0
}

/**
 * Until when it may start, whatever keeps it waiting from the time that it is due: the account, its turn, that no process runs, or that somebody has to
 * press a button, who has `withinMs`, or until a window closes that is shorter.
 */
export function mayStartUntil(signed: Signed, times: Times, withinMs: number = startWithinMs): number {
  const due = dueOf(signed, times, withinMs)
  const end = Math.min(due + withinMs, times.tooLateAt ?? Number.POSITIVE_INFINITY)
  if (withinMs <= startWithinMs || isClosed(times, due) || !isClosed(times, end)) return end
  for (let open = due; ; ) {
    let closed = end
    while (closed - open > 1) {
      const middle = Math.floor((open + closed) / 2)
      if (isClosed(times, middle)) closed = middle
      else open = middle
    }
    open = earliestStart({ ...times, freezes: [] }, times, closed).at
    if (open >= end) return closed
  }
}

/** Why it may not start now, and until when about. Undefined if it may. */
export function heldFrom(now: number, signed: Signed, times: Times): { waits: Waits; at: number } | undefined {
  // The clock of a Redis that took over may be behind the approval.
  const from = signed.startNow ? now : Math.max(now, signed.start ?? now)
  const { at, holds } = earliestStart(times, times, from)
  if (at <= now) return undefined
  const last = holds.at(-1)
  // Here, only its own start can be ahead.
  const nowHeld = holdsOf(times, times, now)
  const mayStartNow = nowHeld.length === 0 ? { mayStartNow: true as const } : {}
  if (!last) return { waits: { for: 'start', until: at, ...mayStartNow }, at }
  // A freeze that ends nobody knows when may end before the start.
  if (last.by === 'freeze' && last.until === Number.POSITIVE_INFINITY && from > now) {
    const lifted = earliestStart({ ...times, freezes: times.freezes.filter(({ to }) => Number.isFinite(to)) }, times, from)
    const opens = lifted.holds.at(-1)
    const isKnown = Number.isFinite(lifted.at)
    const hold = isKnown && opens?.by === 'window' ? ({ for: 'window', name: opens.name } as const) : ({ for: 'start' } as const)
    return { waits: { ...hold, until: isKnown ? lifted.at : from, ifLifted: true, ...mayStartNow }, at: from }
  }
  const isFrozen = nowHeld.some(({ by }) => by === 'freeze')
  const planned = last.from !== undefined && last.from > now && Number.isFinite(at) && !isFrozen ? { from: last.from } : {}
  // A freeze that is longer than anybody looks ahead still has an end.
  const ends = last.by === 'freeze' ? Math.min(at, last.until) : at
  const until = Number.isFinite(ends) ? ends : undefined
  return { waits: { for: last.by, name: last.name, until, ...planned, ...mayStartNow }, at }
}
