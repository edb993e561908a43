import { noRule, requesterRuling } from '../../domain/approval/approval.ts'
import { isMachine, type Origin } from '../../domain/approval/origin.ts'
import type { Place, Requester } from '../../domain/approval/people.ts'
import { tallyApprovals } from '../../domain/approval/tally.ts'
import type { Finding } from '../../domain/change/finding.ts'
import type { ChangeKind } from '../../domain/policy/change-kind.ts'
import { decidingRule } from '../../domain/policy/deciding-rule.ts'
import { type ApproveTerms, approvalsNeeded, approversOf, type Policy, type PolicyRule, type Project } from '../../domain/policy/policy.ts'
import { lacksReason } from '../../domain/policy/reason.ts'
import { type Draft, ReasonRequired } from './reason-required.ts'
import type { Refuse } from './refuse.ts'
import type { Standings } from './standings.ts'

interface AdmitParts {
  standings: Standings
  policy: Policy
  refuse: Refuse
}

/** A change that a person requests, after its project was read. */
interface Requested {
  kind: ChangeKind
  project: Project
  /** What `gate` returned for this kind of change. */
  requester: Requester
  reason: string | undefined
  draft: Draft
}

type Approvers = 'enough' | 'too-few' | 'unknown'

/**
 * Creates the check of a request under the rule of its project. It returns the rule, and what could not be checked. It throws a Refusal if
 * no rule covers the change, the rule does not allow the requester, too few people could approve it, or the rule requires a reason and there
 * is none.
 */
export function createAdmit({ standings, policy, refuse }: AdmitParts) {
  return async function admit(origin: Origin, requested: Requested): Promise<{ rule: PolicyRule; unchecked: Finding[] }> {
    const { kind, project, requester, reason, draft } = requested
    const { person, place } = requester
    if (person.userId !== origin.userId || place.channelId !== origin.channelId) throw new Error('a requester was judged for another place')
    const attempt = { to: 'request', kind }
    const found = decidingRule(policy, { kind, channelId: origin.channelId, project })
    if (found.is === 'none') throw await refuse(origin, attempt, noRule(policy, { kind, hasProject: project !== 'none' }))
    const { rule } = found
    if (found.is === 'project-unknown') throw await refuse(origin, attempt, { code: 'project-unknown', rule: rule.name })
    const ruling = requesterRuling(requester, rule)
    if (!ruling.allowed) throw await refuse(origin, attempt, ruling.denial)
    const approvers = rule.approve ? await findApprovers(rule.approve, rule, origin) : 'enough'
    if (rule.approve && approvers === 'too-few')
      throw await refuse(origin, attempt, {
        code: 'too-few-approvers',
        rule: rule.name,
        needed: approvalsNeeded(rule.approve),
        ...(isMachine(origin) ? { requester: origin.userId } : {}),
      })
    if (lacksReason(rule, reason)) throw new ReasonRequired(rule.name, draft)
    return { rule, unchecked: uncheckedOf(place, approvers) }
  }

  /** Returns whether the possible approvers are enough. The requester counts only if the rule allows break-glass. */
  async function findApprovers(terms: ApproveTerms, { breakGlass }: PolicyRule, origin: Origin): Promise<Approvers> {
    const { users, userGroups } = approversOf(terms)
    const membership = await standings.members(userGroups, 'refusal')
    const groups = [...membership.values()]
    if (groups.includes('unknown')) return 'unknown'
    const inGroups = groups.flatMap((members) => [...members])
    const eligible: string[] = []
    for (const userId of new Set([...users, ...inGroups])) {
      const isOwn = userId === origin.userId
      if (isOwn && !breakGlass) continue
      const person = await standings.person(userId)
      if (person.standing === 'unknown') return 'unknown'
      const teamId = standings.teamIdFor(origin)
      if (person.standing !== 'member' || (teamId !== undefined && person.teamId !== teamId)) continue
      eligible.push(userId)
      if (isOwn || tallyApprovals(terms, eligible, membership).enough) return 'enough'
    }
    return 'too-few'
  }
}

function uncheckedOf({ standing }: Place, approvers: Approvers): Finding[] {
  return [
    ...(approvers === 'unknown' ? [{ code: 'approvers-unknown' }] : []),
    ...(standing === 'unreadable' ? [{ code: 'channel-unreadable' }] : []),
  ]
}
