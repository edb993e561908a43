import {
  approverRuling,
  breakGlassRuling,
  ownerRuling,
  readerRuling,
  requesterOfKindRuling,
  trackerRuling,
  withdrawerRuling,
} from '../../domain/approval/approval.ts'
import { isMachine, type Origin } from '../../domain/approval/origin.ts'
import type { Membership, Requester } from '../../domain/approval/people.ts'
import type { Ruling } from '../../domain/approval/ruling.ts'
import type { ChangeKind } from '../../domain/policy/change-kind.ts'
import { rulesOfKind } from '../../domain/policy/find-rules.ts'
import { approverGroupsOf, type Policy, type PolicyRule } from '../../domain/policy/policy.ts'
import type { Request } from '../../domain/request/request.ts'
import type { MembersFor } from '../../slack/people/groups.ts'
import type { CardButtonId } from '../messages/buttons.ts'
import type { Freshness, Standings } from './standings.ts'

/** What a person wants to do. */
export type Intent =
  /** Use Lockkeeper at all: every command, click, submission and option load. `what` names it for the audit. */
  | { to: 'read'; what?: string }
  /** Request a change of this kind. Its project, and so its rule, is not known yet. */
  | { to: 'request'; kind: ChangeKind }
  | IntentOnRequest
type IntentOnRequest =
  /** `button`: the id of the button that was pressed, for the audit. One right covers several buttons. */
  | { to: 'decide' | 'break-glass'; request: Request; button?: CardButtonId }
  /** Have the secret of a request issued. */
  | { to: 'issue'; request: Request }
  | { to: 'withdraw'; request: Request }
  /** Stop the tracking or start it again. */
  | { to: 'track'; request: Request }

interface JudgeParts {
  standings: Standings
  policy: Policy
  /** Whether the resources of a kind belong to projects. */
  hasProject: (kind: ChangeKind) => boolean
  /** Returns the current rule of the policy for a request, if any. */
  ruleOf: (request: Request) => PolicyRule | undefined
}

/** Creates the function that judges an intent by the policy, and by Slack's data on the person, the place and the user groups. */
export function createJudge({ standings, policy, hasProject, ruleOf }: JudgeParts) {
  async function judge(origin: Origin, intent: Intent, freshness: Freshness = { fresh: false }): Promise<Ruling> {
    if (intent.to === 'request') return (await judgeRequesting(origin, intent.kind, freshness)).ruling
    if (intent.to !== 'read') return judgeOnRequest(origin, intent, freshness)
    const { person, place } = await standings.personAndPlace(origin, origin.channelId, freshness)
    return readerRuling(person, place)
  }

  /** Also returns the facts behind the ruling, so that `admit` judges the rule of the project by the same facts. */
  async function judgeRequesting(
    origin: Origin,
    kind: ChangeKind,
    freshness: Freshness,
  ): Promise<{ ruling: Ruling; requester: Requester }> {
    const change = { kind, hasProject: hasProject(kind) }
    const groups = rulesOfKind(policy, { ...change, channelId: origin.channelId }).flatMap((rule) => rule.request?.userGroups ?? [])
    const { person, place } = await standings.personAndPlace(origin, origin.channelId, freshness)
    const judged = await judgeMembers(groups, freshness.fresh ? 'request' : 'refusal', (membership) =>
      requesterOfKindRuling({ person, place, membership }, change, policy),
    )
    return { ruling: judged.ruling, requester: { person, place, membership: judged.membership } }
  }

  /** Judges by the channel of the request, because the button can also be on the Home tab. */
  async function judgeOnRequest(origin: Origin, intent: IntentOnRequest, freshness: Freshness): Promise<Ruling> {
    const { channelId, userId: requesterId } = intent.request.origin
    const actor = { ...(await standings.personAndPlace(origin, channelId, freshness)), requesterId }
    // While a request waits, approvers reject it, and say why.
    const isForRequester = intent.to === 'issue' || (intent.to === 'withdraw' && isUndecided(intent.request))
    if (isForRequester) return ownerRuling(actor, intent.to)
    const rule = ruleOf(intent.request)
    const rulingOn = { decide: approverRuling, 'break-glass': breakGlassRuling, withdraw: withdrawerRuling, track: trackerRuling }[
      intent.to
    ]
    // Requesters need the groups only to approve alone.
    const needsGroups = origin.userId !== requesterId || intent.to === 'break-glass'
    const judged = await judgeMembers(
      rule && needsGroups ? approverGroupsOf(rule) : [],
      freshness.fresh ? 'decision' : 'refusal',
      (membership) => rulingOn({ ...actor, rule, membership }),
    )
    return judged.ruling
  }

  /** Judges by the known members first, because Slack limits the reads of groups: only what they allow needs newer ones. */
  async function judgeMembers(groupIds: string[], purpose: MembersFor, rulingBy: (membership: Membership) => Ruling) {
    const known = await standings.members(groupIds, 'refusal')
    const ruling = rulingBy(known)
    if (!ruling.allowed || purpose === 'refusal') return { ruling, membership: known }
    const membership = await standings.members(groupIds, purpose)
    return { ruling: rulingBy(membership), membership }
  }

  return { judge, judgeRequesting }
}

/** Whether a request by a person waits for approval. An alert does not click, so its approvers withdraw what it requested at any time. */
function isUndecided({ state, origin }: Request): boolean {
  return state === 'waiting' && !isMachine(origin)
}
