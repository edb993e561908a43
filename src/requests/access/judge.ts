import { judgeApprover, judgeBreakGlass, judgeOwner, judgeReader, judgeRequesterOfKind, judgeTracker } from '../../domain/approval.ts'
import type { ChangeKind } from '../../domain/change-kind.ts'
import type { Origin } from '../../domain/origin.ts'
import type { Requester } from '../../domain/people.ts'
import { groupsOf, type Policy, type PolicyRule, rulesOfKind } from '../../domain/policy.ts'
import type { Request } from '../../domain/request.ts'
import type { Ruling } from '../../domain/ruling.ts'
import type { Standings } from './standings.ts'

/** What somebody wants to do. */
export type Act =
  /** Anything at all: every command, click, submission and option load. `what` says which, for the audit. */
  | { to: 'read'; what?: string }
  /** Request a change of this kind, under whichever rule will hold for it. */
  | { to: 'ask'; kind: ChangeKind }
  | ActOnRequest
type ActOnRequest =
  | { to: 'decide'; request: Request }
  | { to: 'break-glass'; request: Request }
  /** What only the requester may do. */
  | { to: 'own'; request: Request; wants: 'take' | 'withdraw' }
  /** Stop the tracking or start it again, as the requester or as an approver. */
  | { to: 'track'; request: Request }

/** `fresh`: by what Slack says now, and not by what it said seconds ago. */
interface Freshness {
  fresh: boolean
}

interface JudgeParts {
  standings: Standings
  policy: Policy
  /** The policy's rule for a request as it is now. Undefined if there is none any more. */
  ruleOf: (request: Request) => PolicyRule | undefined
}

/** Judges what somebody may do, by the policy and by what Slack says of the person, the place and the user groups. */
export function createJudge({ standings, policy, ruleOf }: JudgeParts) {
  async function judge(origin: Origin, act: Act, freshness: Freshness = { fresh: false }): Promise<Ruling> {
    if (act.to === 'ask') return (await judgeAsk(origin, act.kind, freshness)).ruling
    if (act.to !== 'read') return judgeOnRequest(origin, act, freshness)
    const { person, place } = await standings.personAndPlace(origin, origin.channelId, freshness)
    return judgeReader(person, place)
  }

  /** Judges with what it was judged by, so that the rule of the project is judged by the same. */
  async function judgeAsk(origin: Origin, kind: ChangeKind, freshness: Freshness): Promise<{ ruling: Ruling; requester: Requester }> {
    const groups = rulesOfKind(policy, kind, origin.channelId).flatMap((rule) => rule.request?.userGroups ?? [])
    const { person, place } = await standings.personAndPlace(origin, origin.channelId, freshness)
    const membership = await standings.members(groups)
    return { ruling: judgeRequesterOfKind(person, place, kind, policy, membership), requester: { person, place, membership } }
  }

  /** Judges by the channel of the request, wherever the button was pressed. */
  async function judgeOnRequest(origin: Origin, act: ActOnRequest, freshness: Freshness): Promise<Ruling> {
    const { channelId, userId: requesterId } = act.request.origin
    const { person, place } = await standings.personAndPlace(origin, channelId, freshness)
    if (act.to === 'own') return judgeOwner(person, place, requesterId, act.wants)
    const rule = ruleOf(act.request)
    const membership = await standings.members(rule ? groupsOf(rule) : [], freshness)
    const judgeBy = { decide: judgeApprover, 'break-glass': judgeBreakGlass, track: judgeTracker }[act.to]
    return judgeBy(person, place, requesterId, rule, membership)
  }

  return { judge, judgeAsk }
}
export type Judge = ReturnType<typeof createJudge>
