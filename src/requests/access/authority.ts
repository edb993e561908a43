import type { AuditEntry } from '../../audit/entry.ts'
import { type AuthorityProblem, problemOf } from '../../domain/authority-problem.ts'
import { approvalsNeeded, type PolicyRule } from '../../domain/policy.ts'
import type { Approval, Decision, Request } from '../../domain/request.ts'
import type { RequestSignatures } from '../../domain/request-signature.ts'
import { isSend } from '../steps.ts'

/** How long after the last approval a write may be sent. An older state that is put back into Redis then has no effect. */
export const approvalHoldsMs = 10 * 60_000

interface AuthorityParts {
  signatures: RequestSignatures
  /** The policy's rule for a request as it is now. Undefined if there is none any more. */
  ruleOf: (request: Request) => PolicyRule | undefined
  /** Finds entries of the audit that say that this request was sent or has ended, since this time in ms by Redis' clock. */
  findSendsAndEnds: (request: Request, since: number) => Promise<AuditEntry[]>
}

/**
 * Checks, right before a write is sent, that people allowed it: the request is as it was requested, its approvals are genuine and were enough
 * when the last one was given, the policy still allows that number, and it was neither sent before nor has it ended. Nobody who writes to
 * Redis can make these true. `now` is in ms by Redis' clock. `holdsMs` is how long after the last approval it may be sent.
 */
export function createCheckAuthority({ signatures, ruleOf, findSendsAndEnds }: AuthorityParts) {
  return async function checkAuthority(request: Request, now: number, holdsMs = approvalHoldsMs): Promise<AuthorityProblem | undefined> {
    const problem = problemOf(signatures.verifyRequest(request))
    if (problem) return problem

    const rule = ruleOf(request)
    if (!rule) return { code: 'rule-gone' }
    // An exemption that was withdrawn since the request exempts nothing.
    if (!request.needsApproval && rule.approve) return { code: 'approval-needed-now' }
    const allowed = request.needsApproval ? lastApproval(request, rule) : { at: request.createdAt }
    if ('code' in allowed) return allowed
    // What needs no approval waits for its message at most, which Slack may not take for hours.
    if (now - allowed.at > (request.needsApproval ? holdsMs : request.ttlMs)) return { code: 'approved-too-long-ago' }
    const earlier = await findSendsAndEnds(request, request.createdAt)
    if (earlier.some(({ act }) => isSend(act))) return { code: 'already-sent' }
    return earlier.length > 0 ? { code: 'already-ended' } : undefined
  }

  /** Returns when the last of enough genuine approvals was given, in ms by Redis' clock. Slack is not asked again: it may be away. */
  function lastApproval(request: Request, rule: PolicyRule): { at: number } | AuthorityProblem {
    const { decision, approvals } = request
    if (decision?.breakGlass) return brokenGlass(request, decision, rule)
    const counted = decision ? signatures.verifyApproved(request, decision) : 'unsigned'
    const verdicts = [counted, ...approvals.map((approval) => signatures.verifyApproval(request, approval))]
    if (verdicts.includes('unknown-key')) return { code: 'unknown-key' }
    const isGenuine = verdicts.every((verdict) => verdict === 'genuine') && approvals.every((approval) => isInTime(request, approval))
    if (!isGenuine || approvals.length === 0) return { code: 'approvals-not-genuine' }
    const needed = rule.approve ? approvalsNeeded(rule.approve) : request.approvalsNeeded
    const people = new Set(approvals.map(({ by }) => by))
    if (people.size < needed) return { code: 'approval-needed-now' }
    return { at: Math.max(...approvals.map(({ at }) => at)) }
  }

  function brokenGlass(request: Request, decision: Decision, rule: PolicyRule): { at: number } | AuthorityProblem {
    const verdict = signatures.verifyBreakGlass(request, decision)
    if (verdict === 'unknown-key') return { code: 'unknown-key' }
    const { by, at } = decision
    if (verdict !== 'genuine' || by !== request.origin.userId || at === undefined || !isInTime(request, { at }))
      return { code: 'approvals-not-genuine' }
    return rule.breakGlass ? { at } : { code: 'approval-needed-now' }
  }
}
export type CheckAuthority = ReturnType<typeof createCheckAuthority>

/** An approval from before the request, or from after its deadline, belongs to another time. */
function isInTime({ createdAt, ttlMs }: Request, { at }: Pick<Approval, 'at'>): boolean {
  return at >= createdAt && at <= createdAt + ttlMs
}
