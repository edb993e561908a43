import { type KindOfChange, rulesNaming, rulesOfKind } from '../policy/find-rules.ts'
import { approversOf, type Group, type Policy, type PolicyRule } from '../policy/policy.ts'
import type { Denial, DeniedAction, InvolvedDenial } from './denial.ts'
import { alertsRequester } from './origin.ts'
import { findIn, type Membership, type Person, type Place, type Requester } from './people.ts'
import { allow, deny, type Ruling } from './ruling.ts'

/** Who wants to act on a request, and where. */
interface Actor {
  person: Person
  /** The channel of the request. */
  place: Place
  /** The user id of the requester. */
  requesterId: string
}

/** What also decides whether somebody may act on a request as an approver. */
interface ActorUnderRule extends Actor {
  /** The current rule of the request. Undefined if the policy no longer has one. */
  rule: PolicyRule | undefined
  membership: Membership
}

/** Whether a person may use Lockkeeper and read the account with it. */
export function readerRuling(person: Person, place: Place): Ruling {
  return denialForPersonOrPlace(person, place, 'read') ?? allow({ via: 'member' })
}

/**
 * Whether at least one rule lets a person request a change of this kind in this channel. The project of the change decides later which rule
 * applies.
 */
export function requesterOfKindRuling({ person, place, membership }: Requester, change: KindOfChange, policy: Policy): Ruling {
  const refused = denialForRequesting(person, place)
  if (refused) return refused
  const rules = rulesOfKind(policy, { ...change, channelId: place.channelId })
  const rulings = rules.map((rule) => requesterGroupRuling(person, rule, membership))
  return rulings.find((ruling) => ruling.allowed) ?? rulings[0] ?? deny(noRule(policy, change))
}

/** Whether a person may request a change under this rule. Denies if Slack gave no answer. */
export function requesterRuling({ person, place, membership }: Requester, rule: PolicyRule): Ruling {
  return denialForRequesting(person, place) ?? requesterGroupRuling(person, rule, membership)
}

/** Builds the denial for a kind that has no rule in this channel. */
export function noRule(policy: Policy, { kind, hasProject }: KindOfChange): Denial {
  const rules = rulesNaming(policy, kind).filter((rule) => hasProject || rule.projects === undefined)
  const channels = rules.flatMap((rule) => rule.channels ?? [])
  return { code: 'no-rule', kind, channels: [...new Set(channels)] }
}

/** Whether a person may decide a request. Denies if Slack gave no answer. */
export function approverRuling({ person, place, requesterId, rule, membership }: ActorUnderRule): Ruling {
  const refused = denialForPersonOrPlace(person, place, 'decide')
  if (refused) return refused
  if (person.userId === requesterId) return deny({ code: 'own-request' })
  return approverGroupRuling(person.userId, rule, membership)
}

/** Whether the requester may approve the request alone in an emergency. The rule must allow it, and the requester must be an approver. */
export function breakGlassRuling({ person, place, requesterId, rule, membership }: ActorUnderRule): Ruling {
  const refused = denialForPersonOrPlace(person, place, 'decide')
  if (refused) return refused
  if (person.userId !== requesterId) return deny({ code: 'only-requester-may-break-glass', requester: requesterId })
  if (!rule?.breakGlass) return deny({ code: 'own-request' })
  const ruling = approverGroupRuling(person.userId, rule, membership)
  // Others approve it, whether or not the requester is an approver.
  return ruling.allowed || ruling.denial.code !== 'not-an-approver' ? ruling : deny({ code: 'own-request' })
}

/** Whether a person is the requester, who alone may take a new secret, and withdraw what is not approved yet. */
export function ownerRuling({ person, place, requesterId }: Actor, wants: 'issue' | 'withdraw'): Ruling {
  const reader = readerRuling(person, place)
  if (!reader.allowed) return reader
  return person.userId === requesterId ? allow({ via: 'requester' }) : deny({ code: `only-requester-may-${wants}`, requester: requesterId })
}

/** Whether a person may withdraw an approved request before it is sent. The requester and the approvers may. */
export function withdrawerRuling(actor: ActorUnderRule): Ruling {
  return involvedRuling(actor, 'only-involved-may-withdraw')
}

/** Whether a person may stop or resume the tracking of a request. The requester and the approvers may. */
export function trackerRuling(actor: ActorUnderRule): Ruling {
  return involvedRuling(actor, 'not-involved')
}

function involvedRuling(actor: ActorUnderRule, code: InvolvedDenial): Ruling {
  if (actor.person.userId !== actor.requesterId) {
    const ruling = approverRuling(actor)
    if (ruling.allowed || ruling.denial.code !== 'not-an-approver') return ruling
    return deny({ code, requester: actor.requesterId, approvers: ruling.denial.approvers })
  }
  const reader = readerRuling(actor.person, actor.place)
  return reader.allowed ? allow({ via: 'requester' }) : reader
}

function approverGroupRuling(userId: string, rule: PolicyRule | undefined, membership: Membership): Ruling {
  if (!rule?.approve) return deny({ code: 'rule-gone' })
  return memberRuling(userId, approversOf(rule.approve), rule, membership) ?? deny({ code: 'not-an-approver', approvers: rule.approve })
}

function requesterGroupRuling({ userId, standing }: Person, rule: PolicyRule, membership: Membership): Ruling {
  if (standing === 'machine') return alertsRuling(rule)
  if (!rule.request) return allow({ rule: rule.name, via: 'member' })
  return memberRuling(userId, rule.request, rule, membership) ?? deny({ code: 'not-a-requester', requesters: rule.request })
}

/** Alerts may request only what a rule lets them request, and what people have to approve. */
function alertsRuling({ name, alerts, approve }: PolicyRule): Ruling {
  if (!alerts) return deny({ code: 'alerts-not-named', rule: name })
  return approve ? allow({ rule: name, via: alertsRequester }) : deny({ code: 'alerts-need-approval', rule: name })
}

/** Returns undefined if the person is not in the group. */
function memberRuling(userId: string, group: Group, { name }: PolicyRule, membership: Membership): Ruling | undefined {
  const found = findIn(group, userId, membership)
  if (found === undefined) return undefined
  return found === 'unknown' ? deny({ code: 'group-unknown' }) : allow({ rule: name, via: found.via })
}

function denialForRequesting(person: Person, place: Place): Ruling | undefined {
  const isDirect = place.standing === 'direct' || place.standing === 'group-direct'
  return denialForPersonOrPlace(person, place, 'request') ?? (isDirect ? deny({ code: 'direct-message' }) : undefined)
}

/** Returns a denial because of who or where the person is, before any rule is read. Returns undefined if neither is a problem. */
function denialForPersonOrPlace(person: Person, { teamId, standing }: Place, action: DeniedAction): Ruling | undefined {
  if (person.standing === 'unknown') return deny({ code: 'person-unknown', action })
  if (person.standing === 'machine' && action !== 'request') return deny({ code: 'bot', action })
  if (person.standing === 'guest' || person.standing === 'bot') return deny({ code: person.standing, action })
  if (person.standing === 'deleted') return deny({ code: 'deactivated', action })
  const isForeign = person.standing !== 'machine' && (person.teamId === undefined || (teamId !== undefined && person.teamId !== teamId))
  if (person.standing === 'stranger' || isForeign) return deny({ code: 'other-workspace', action })
  if (standing === 'shared') return deny({ code: 'shared-channel', action })
  if (standing === 'unknown') return deny({ code: 'channel-unknown', action })
  return undefined
}
