import type { FoundEntry } from '../../audit/find-entries.ts'
import { isMachine } from '../../domain/approval/origin.ts'
import { approvalsNeeded, type PolicyRule } from '../../domain/policy/policy.ts'
import { type AuthorityProblem, problemOf } from '../../domain/request/authority-problem.ts'
import type { Approval, Decision, Request } from '../../domain/request/request.ts'
import type { RequestSignatures } from '../../domain/request/request-signature.ts'
import { isSend, isUnsend, stateOfAct } from '../steps.ts'

/**
 * How long after its last signed approval a write may be sent, whatever it has waited for. After that, an older state that somebody puts back into
 * Redis has no effect.
 */
export const approvalHoldsMs = 30 * 60_000

/** How far off the clock of a Redis can be that took over after a failover. The signatures cover the times that are compared. */
const clockMarginMs = 60_000

interface CheckAuthorityParts {
  signatures: RequestSignatures
  /** The policy's rule for a request as it is now. Undefined if there is none any more. */
  ruleOf: (request: Request) => PolicyRule | undefined
  /**
   * Finds entries of the audit that decide whether this request or an item of it may still be sent, since this time in ms by Redis' clock. The
   * newest comes first.
   */
  findSendsAndEnds: (request: Request, since: number) => Promise<FoundEntry[]>
}

/**
 * Checks, right before a write is sent, that people allowed it: the request is as it was requested, its approvals are genuine and were enough
 * when the last one was given, the policy still allows that number, and it was neither sent before nor has it ended. Nobody who writes to
 * Redis can make these true. `now` is in ms by Redis' clock. `holdsMs` is how long after the last approval it may be sent.
 */
export function createCheckAuthority({ signatures, ruleOf, findSendsAndEnds }: CheckAuthorityParts) {
  async function checkAuthority(request: Request, now: number, holdsMs = approvalHoldsMs): Promise<AuthorityProblem | undefined> {
    const allowed = whenAllowed(request, now, holdsMs)
    if ('code' in allowed) return allowed
    return pastOf(await findSendsAndEnds(request, request.createdAt - clockMarginMs))
  }

  /**
   * Checks the same before items of a request are sent that has begun. Returns until when they may be sent, in ms by Redis' clock, and why some
   * items may not be sent again, by their ids.
   */
  async function checkItems(request: Request, now: number): Promise<AuthorityProblem | ItemsAllowed> {
    const problem = problemOf(signatures.verifySeen(request))
    if (problem) return problem
    const allowed = whenAllowed(request, now, approvalHoldsMs)
    if ('code' in allowed) return allowed
    const earlier = await findSendsAndEnds(request, request.createdAt - clockMarginMs)
    const last = earlier.find(({ item }) => item === undefined)
    if (!last || stateOfAct(last.act) !== 'tracking') return { code: 'already-ended' }
    const past = Map.groupBy(earlier, ({ item }) => item)
    return { until: allowed.until, past: new Map([...past].flatMap(([item, entries]) => withPast(item, pastOf(entries)))) }
  }

  /** Returns when the request was allowed, and until when it may be sent, both in ms by Redis' clock. */
  function whenAllowed(request: Request, now: number, holdsMs: number): { at: number; until: number } | AuthorityProblem {
    const problem = problemOf(signatures.verifyRequest(request))
    if (problem) return problem

    const rule = ruleOf(request)
    if (!rule) return { code: 'rule-gone' }
    // An exemption that the policy has withdrawn since the request does not count, and no exemption covers a request by a machine.
    if (!request.needsApproval && (rule.approve || isMachine(request.origin))) return { code: 'approval-needed-now' }
    const allowed = request.needsApproval ? lastApproval(request, rule) : { at: request.createdAt }
    if ('code' in allowed) return allowed
    // A change without approval only waits for its request message, which Slack may not take for hours.
    const until = allowed.at + (request.needsApproval ? holdsMs : request.ttlMs)
    return now > until ? { code: 'approved-too-long-ago' } : { at: allowed.at, until }
  }

  /**
   * Returns when the last of enough genuine approvals was given, in ms by Redis' clock. It is not checked with Slack again, because Slack
   * may not respond.
   */
  function lastApproval(request: Request, rule: PolicyRule): { at: number } | AuthorityProblem {
    const { decision, approvals } = request
    if (decision?.breakGlass) return emergencyApproval(request, decision, rule)
    const counted = decision ? signatures.verifyApproved(request, decision) : 'unsigned'
    const verdicts = [counted, ...approvals.map((approval) => signatures.verifyApproval(request, approval))]
    if (verdicts.includes('unknown-key')) return { code: 'unknown-key' }
    const isGenuine = verdicts.every((verdict) => verdict === 'genuine') && approvals.every((approval) => isInTime(request, approval))
    if (!isGenuine || approvals.length === 0) return { code: 'approvals-not-genuine' }
    const needed = rule.approve ? approvalsNeeded(rule.approve) : request.approvalsNeeded
    const people = new Set(approvals.map(({ by }) => by))
    if (people.size < needed || !hasAll(rule, people, decision)) return { code: 'approval-needed-now' }
    return { at: Math.max(...approvals.map(({ at }) => at)) }
  }

  function emergencyApproval(request: Request, decision: Decision, rule: PolicyRule): { at: number } | AuthorityProblem {
    if (isMachine(request.origin)) return { code: 'approvals-not-genuine' }
    const verdict = signatures.verifyBreakGlass(request, decision)
    if (verdict === 'unknown-key') return { code: 'unknown-key' }
    const { by, at } = decision
    if (verdict !== 'genuine' || by !== request.origin.userId || at === undefined || !isInTime(request, { at }))
      return { code: 'approvals-not-genuine' }
    return rule.breakGlass ? { at } : { code: 'approval-needed-now' }
  }

  return { checkAuthority, checkItems }
}
export type CheckAuthority = ReturnType<typeof createCheckAuthority>['checkAuthority']
export type CheckItems = ReturnType<typeof createCheckAuthority>['checkItems']

/** The conditions under which items may be sent. */
export interface ItemsAllowed {
  until: number
  /** Why items may not be sent, because the audit shows them sent or ended. */
  past: Map<string | undefined, AuthorityProblem>
}

/**
 * Returns why nothing may be sent again. A write that the account API refused because of its limit was not carried out: each genuine entry that says
 * so cancels one write. A copy of such an entry cancels nothing.
 */
function pastOf(earlier: FoundEntry[]): AuthorityProblem | undefined {
  const sent = earlier.filter(({ act }) => isSend(act)).length
  const refused = earlier.filter(({ act, verdict }) => isUnsend(act) && verdict === 'genuine').length
  if (sent > refused) return { code: 'already-sent' }
  return earlier.some(({ act }) => !isSend(act) && !isUnsend(act)) ? { code: 'already-ended' } : undefined
}

function withPast(item: string | undefined, problem: AuthorityProblem | undefined): [string | undefined, AuthorityProblem][] {
  return problem ? [[item, problem]] : []
}

/**
 * Whether the people approved whom the rule requires now. A group counts only if it was required at the last approval, because its members are not
 * read again.
 */
function hasAll({ approve }: PolicyRule, people: Set<string>, decision: Decision | undefined): boolean {
  const allOf = approve?.allOf ?? []
  return allOf.every((id) => people.has(id)) || allOf.every((id) => decision?.allOf?.includes(id))
}

/** An approval from before the request, or from after its deadline, does not count. */
function isInTime({ createdAt, ttlMs }: Request, { at }: Pick<Approval, 'at'>): boolean {
  return at >= createdAt - clockMarginMs && at <= createdAt + ttlMs + clockMarginMs
}
