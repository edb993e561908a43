import type { ChangeKind } from './change-kind.ts'
import type { Denial, DeniedAction } from './denial.ts'
import { findIn, type Membership, type Person, type Place } from './people.ts'
import { approversOf, type Group, type Policy, type PolicyRule, rulesOfKind } from './policy.ts'
import { allow, deny, type Ruling } from './ruling.ts'

/** Whether a person may use this bot at all, and look at the account through it. */
export function judgeReader(person: Person, place: Place): Ruling {
  return judgeWhoAndWhere(person, place, 'read') ?? allow({ via: 'member' })
}

/** Whether some rule lets a person ask for a change of this kind in this channel. Which one holds is seen once its project is known. */
export function judgeRequesterOfKind(person: Person, place: Place, kind: ChangeKind, policy: Policy, membership: Membership): Ruling {
  const refused = judgeAskingHere(person, place)
  if (refused) return refused
  const rulings = rulesOfKind(policy, kind, place.channelId).map((rule) => judgeAmongRequesters(person.userId, rule, membership))
  return rulings.find((ruling) => ruling.allowed) ?? rulings[0] ?? deny(noRule(policy, kind))
}

/** Whether a person may ask for a change under this rule. Whatever is not known denies. */
export function judgeRequester(person: Person, place: Place, rule: PolicyRule, membership: Membership): Ruling {
  return judgeAskingHere(person, place) ?? judgeAmongRequesters(person.userId, rule, membership)
}

/** Why nothing of this kind can be asked for here: there is no rule for it. */
export function noRule(policy: Policy, kind: ChangeKind): Denial {
  const channels = policy.rules.filter((rule) => rule.changes.includes(kind)).flatMap((rule) => rule.channels ?? [])
  return { code: 'no-rule', kind, channels: [...new Set(channels)] }
}

/** Whether a person may decide a request. Whatever is not known denies. */
export function judgeApprover(
  person: Person,
  place: Place,
  requesterId: string,
  rule: PolicyRule | undefined,
  membership: Membership,
): Ruling {
  const refused = judgeWhoAndWhere(person, place, 'decide')
  if (refused) return refused
  if (person.userId === requesterId) return deny({ code: 'own-request' })
  return judgeAmongApprovers(person.userId, rule, membership)
}

/** Whether the requester may approve it alone, in an emergency: only where the rule says so, and only who could approve it for others. */
export function judgeBreakGlass(
  person: Person,
  place: Place,
  requesterId: string,
  rule: PolicyRule | undefined,
  membership: Membership,
): Ruling {
  const refused = judgeWhoAndWhere(person, place, 'decide')
  if (refused) return refused
  if (person.userId !== requesterId) return deny({ code: 'not-yours-to-break-glass', requester: requesterId })
  return rule?.breakGlass ? judgeAmongApprovers(person.userId, rule, membership) : deny({ code: 'own-request' })
}

/** Whether a person may do what only the requester may: take what was made, or withdraw the request. */
export function judgeOwner(person: Person, place: Place, requesterId: string, wants: 'take' | 'withdraw'): Ruling {
  const reader = judgeReader(person, place)
  if (!reader.allowed) return reader
  return person.userId === requesterId ? allow({ via: 'requester' }) : deny({ code: `not-yours-to-${wants}`, requester: requesterId })
}

/** Whether a person may stop the tracking of a request, or start it again: the requester may, and whoever may decide it. */
export function judgeTracker(
  person: Person,
  place: Place,
  requesterId: string,
  rule: PolicyRule | undefined,
  membership: Membership,
): Ruling {
  if (person.userId !== requesterId) return judgeApprover(person, place, requesterId, rule, membership)
  const reader = judgeReader(person, place)
  return reader.allowed ? allow({ via: 'requester' }) : reader
}

function judgeAmongApprovers(userId: string, rule: PolicyRule | undefined, membership: Membership): Ruling {
  if (!rule?.approve) return deny({ code: 'rule-gone' })
  return judgeGroup(userId, approversOf(rule.approve), rule, membership) ?? deny({ code: 'not-an-approver', approvers: rule.approve })
}

function judgeAmongRequesters(userId: string, rule: PolicyRule, membership: Membership): Ruling {
  if (!rule.request) return allow({ rule: rule.name, via: 'member' })
  return judgeGroup(userId, rule.request, rule, membership) ?? deny({ code: 'not-a-requester', requesters: rule.request })
}

/** Undefined if the person is not in the group. */
function judgeGroup(userId: string, group: Group, { name }: PolicyRule, membership: Membership): Ruling | undefined {
  const found = findIn(group, userId, membership)
  if (found === undefined) return undefined
  return found === 'unknown' ? deny({ code: 'group-unknown' }) : allow({ rule: name, via: found.via })
}

function judgeAskingHere(person: Person, place: Place): Ruling | undefined {
  const isDirect = place.standing === 'direct' || place.standing === 'group-direct'
  return judgeWhoAndWhere(person, place, 'ask') ?? (isDirect ? deny({ code: 'direct-message' }) : undefined)
}

/** Who somebody is, and what kind of channel it is, before any rule is looked at. */
function judgeWhoAndWhere(person: Person, { teamId, standing }: Place, action: DeniedAction): Ruling | undefined {
  if (person.standing === 'unknown') return deny({ code: 'person-unknown', action })
  if (person.standing === 'guest' || person.standing === 'bot') return deny({ code: person.standing, action })
  if (person.standing === 'deleted') return deny({ code: 'deactivated', action })
  const isForeign = person.teamId === undefined || (teamId !== undefined && person.teamId !== teamId)
  if (person.standing === 'stranger' || isForeign) return deny({ code: 'other-workspace', action })
  if (standing === 'shared') return deny({ code: 'shared-channel', action })
  if (standing === 'unknown') return deny({ code: 'channel-unknown', action })
  return undefined
}
