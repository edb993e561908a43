import type { AuditEntry } from '../../audit/entry.ts'
import { type AuthorityProblem, problemOf } from '../../domain/authority-problem.ts'
import type { PolicyRule } from '../../domain/policy.ts'
import type { Approval, Request } from '../../domain/request.ts'
import type { RequestSignatures } from '../../domain/request-signature.ts'

/** A write is sent no later than this after the last approval: who approved it did not mean any time later, and an older state put back into Redis expires. */
export const approvalHoldsMs = 10 * 60_000

interface AuthorityParts {
  signatures: RequestSignatures
  /** The policy's rule for a request as it is now. Undefined if there is none any more. */
  ruleOf: (request: Request) => PolicyRule | undefined
  tally: (request: Request, userIds: string[]) => Promise<{ enough: boolean }>
  /** Finds genuine entries of the audit that say that this request was sent, since this time in ms by Redis' clock. */
  findSends: (request: Request, since: number) => Promise<AuditEntry[]>
}

/**
 * Checks, right before a write is sent, that people allowed it: the request is as it was requested, enough approvals are genuine by the policy
 * as it is now, and it was not sent before. Nobody who writes to Redis can make these true. `now` is in ms by Redis' clock; `holdsMs` is for how
 * long after the last approval it may be sent.
 */
export function createCheckAuthority({ signatures, ruleOf, tally, findSends }: AuthorityParts) {
  return async function checkAuthority(request: Request, now: number, holdsMs = approvalHoldsMs): Promise<AuthorityProblem | undefined> {
    const problem = problemOf(signatures.verifyRequest(request))
    if (problem) return problem

    const rule = ruleOf(request)
    if (!rule) return { code: 'rule-gone' }
    // An exemption that was withdrawn since the request exempts nothing.
    if (!request.needsApproval && rule.approve) return { code: 'approval-needed-now' }
    const allowed = request.needsApproval ? await lastApproval(request, rule) : { at: request.createdAt }
    if ('code' in allowed) return allowed
    // What needs no approval waits for its message at most, which Slack may not take for hours.
    if (now - allowed.at > (request.needsApproval ? holdsMs : request.ttlMs)) return { code: 'approved-too-long-ago' }
    return (await findSends(request, allowed.at)).length > 0 ? { code: 'already-sent' } : undefined
  }

  /** Returns when the last of enough genuine approvals was given, in ms by Redis' clock. */
  async function lastApproval(request: Request, rule: PolicyRule): Promise<{ at: number } | AuthorityProblem> {
    if (request.decision?.breakGlass) return brokenGlass(request, rule)
    const verdicts = request.approvals.map((approval) => ({ approval, verdict: signatures.verifyApproval(request, approval) }))
    const genuine = verdicts.filter(({ approval, verdict }) => verdict === 'genuine' && isInTime(request, approval))
    if (
      await isEnough(
        request,
        rule,
        genuine.map(({ approval }) => approval.by),
      )
    )
      return { at: Math.max(...genuine.map(({ approval }) => approval.at)) }
    const isUnknown = verdicts.some(({ verdict }) => verdict === 'unknown-key')
    return { code: isUnknown ? 'unknown-key' : 'approvals-not-genuine' }
  }

  /** By the rule as it is now; where that asks for none any more, by the number that was asked for at the request. */
  async function isEnough(request: Request, rule: PolicyRule, by: string[]): Promise<boolean> {
    if (rule.approve) return (await tally(request, by)).enough
    return new Set(by).size >= Math.max(request.approvalsNeeded, 1)
  }

  function brokenGlass(request: Request, rule: PolicyRule): { at: number } | AuthorityProblem {
    const { decision } = request
    const verdict = decision && signatures.verifyBreakGlass(request, decision)
    if (verdict === 'unknown-key') return { code: 'unknown-key' }
    const isAllowed = verdict === 'genuine' && rule.breakGlass && decision?.by === request.origin.userId
    return isAllowed && decision.at !== undefined ? { at: decision.at } : { code: 'approvals-not-genuine' }
  }
}
export type CheckAuthority = ReturnType<typeof createCheckAuthority>

/** An approval from before the request, or from after its deadline, belongs to another time. */
function isInTime({ createdAt, ttlMs }: Request, { at }: Approval): boolean {
  return at >= createdAt && at <= createdAt + ttlMs
}
