import { earliestStart } from './hours.ts'
import type { ChangeKind, Freeze, Policy, PolicyRule, Project, Window } from './policy.ts'
import type { Approval, Decision, Request, Waits } from './request.ts'
import { longestAheadMs } from './times.ts'

/** How long after its time an approved request may start, whatever kept it waiting. After that it is missed. */
export const startWithinMs = 30 * 60_000

/** The name of the freeze that people set by the command. Those of the policy have names of their own. */
export const ownFreezeName = 'freeze by command'

/** What decides when a request may start, besides what people signed: the windows of its rule, and the freezes that cover it. */
export interface Times {
  windows: Window[]
  freezes: Freeze[]
  kind: ChangeKind
  project: Project
}

/** `freezes`: those of `/infra freeze`. An emergency approval passes all of them. */
export function timesFor(
  policy: Policy,
  rule: PolicyRule | undefined,
  { kind, project, decision }: { kind: ChangeKind; project: Project; decision?: Pick<Decision, 'breakGlass'> | undefined },
  freezes: Freeze[],
): Times {
  if (decision?.breakGlass) return { windows: [], freezes: [], kind, project }
  return { windows: rule?.windows ?? [], freezes: [...(policy.freezes ?? []), ...freezes], kind, project }
}

/** What people signed about when a request starts. Times are in ms since 1970. */
export interface Signed {
  approvedAt: number
  start?: number | undefined
  startNow?: Pick<Approval, 'at'> | undefined
}

/** When the last approval was given, of a request whose approvals were verified. Without approval, when it was requested. */
export function approvedAtOf({ decision, approvals, createdAt }: Pick<Request, 'decision' | 'approvals' | 'createdAt'>): number {
  if (decision?.breakGlass) return decision.at ?? createdAt
  return approvals.length === 0 ? createdAt : Math.max(...approvals.map(({ at }) => at))
}

function earliestOf({ approvedAt, start, startNow }: Signed): number {
  return startNow ? Math.max(approvedAt, startNow.at) : Math.max(approvedAt, start ?? approvedAt)
}

/** Until when it may start: half an hour after the latest of its approval, its start, the opening of its window and the end of a freeze. */
export function mayStartUntil(signed: Signed, times: Times): number {
  const last = signed.approvedAt + longestAheadMs
  let at = earliestOf(signed)
  while (at < last) {
    const first = earliestStart(times, times, at)
    if (first === 'never') return last
    const until = first.at + startWithinMs
    // It may begin while the request waits for the account, or for its turn.
    const freeze = times.freezes.find(({ from }) => from > first.at && from <= until)
    if (!freeze) return Math.min(until, last)
    at = freeze.to
  }
  return last
}

/** Why it may not start now, and until when about. Undefined if it may. */
export function heldFrom(now: number, signed: Signed, times: Times): { waits: Waits; at: number } | undefined {
  // The clock of a Redis that took over may be behind the approval.
  const from = signed.startNow ? now : Math.max(now, signed.start ?? now)
  const first = earliestStart(times, times, from)
  if (first !== 'never' && first.at <= now) return undefined
  const at = first === 'never' ? Number.POSITIVE_INFINITY : first.at
  const by = first === 'never' ? undefined : first.holds.at(-1)
  if (by === undefined && from > now) return { waits: { for: 'start', until: from }, at: from }
  const name = by?.name ?? times.freezes.find(({ to }) => to > signed.approvedAt + longestAheadMs)?.name
  return { waits: { for: by?.by ?? 'freeze', name, until: Number.isFinite(at) ? at : undefined }, at }
}
