import { z } from 'zod'
import {
  ApproveTerms,
  approvalsNeeded,
  approversOf,
  eachOf,
  Group,
  isUserGroup,
  type KindOfChange,
  type Policy,
  type PolicyRule,
  rulesNaming,
  rulesOfKind,
} from './policy.ts'

const action = z.enum(['read', 'request', 'decide', 'freeze'])
export type DeniedAction = z.infer<typeof action>

/** Denials because of who the person is, or what kind of channel it is. The last two mean that Slack did not answer. */
const whoOrWhere = z.object({
  code: z.literal(['guest', 'bot', 'deactivated', 'other-workspace', 'shared-channel', 'person-unknown', 'channel-unknown']),
  action,
})

const byPolicy = [
  /** `foreign-channel`: a private one, among whose members Slack does not list the person. `group-unknown`: Slack did not list its members. */
  z.object({ code: z.literal(['direct-message', 'not-in-channel', 'foreign-channel', 'group-unknown', 'own-request', 'rule-gone']) }),
  z.object({ code: z.literal('no-rule'), kind: z.string(), channels: z.array(z.string()) }),
  /** `no-emergency`: the rule lets nobody pass windows and freezes. */
  z.object({ code: z.literal(['project-unknown', 'no-emergency']), rule: z.string() }),
  /** `alerts-need-approval`: the rule needs none, but a request by a machine always does. `machine`: set if it is not alerts. */
  z.object({ code: z.literal(['not-named-by-rule', 'alerts-need-approval']), rule: z.string(), machine: z.string().optional() }),
  z.object({ code: z.literal('keys-need-people') }),
  z.object({ code: z.literal('not-a-requester'), requesters: Group }),
  z.object({ code: z.literal('not-an-approver'), approvers: ApproveTerms }),
  z.object({ code: z.literal('not-a-freezer'), freezers: Group }),
  /** Somebody who neither requested a change nor may approve it wants to withdraw it, or to stop its tracking or start it again. */
  z.object({ code: z.literal(['not-involved', 'only-involved-may-withdraw']), requester: z.string(), approvers: ApproveTerms }),
  /** `needed`: the number of other people who must approve. `requester`: set if it is a machine. `confirm`: what they need for it, and the others who may approve. */
  z.object({
    code: z.literal('too-few-approvers'),
    rule: z.string(),
    needed: z.number(),
    requester: z.string().optional(),
    confirm: z.object({ by: z.string(), others: Group }).optional(),
  }),
  z.object({
    code: z.literal(['only-requester-may-issue', 'only-requester-may-withdraw', 'only-requester-may-break-glass']),
    requester: z.string(),
  }),
] as const

/** Why a button does nothing. `foreign-button`: made for something else. `unknown-key`: the record was signed with one that this process lacks. */
export const ButtonDenial = z.object({
  code: z.literal([
    ...(['stale-card', 'foreign-button', 'unknown-request', 'record-changed', 'unknown-key', 'other-version'] as const),
    ...(['freeze-over', 'freeze-unreadable'] as const),
  ]),
})
export type ButtonDenial = z.infer<typeof ButtonDenial>

/** Why a person may not do something. It is stored as facts and put into words where it is shown. */
export const Denial = z.discriminatedUnion('code', [whoOrWhere, ...byPolicy, ButtonDenial])
export type Denial = z.infer<typeof Denial>

/** For machines, these are no conflict. */
export const denialCodes: ReadonlySet<string> = new Set(Denial.options.flatMap(({ shape }) => [...shape.code.values]))

export function isForLackOfAnswer({ code }: { code: string }): boolean {
  return code === 'person-unknown' || code === 'channel-unknown' || code === 'group-unknown'
}

/** The workspace, channel and person that a command or click came from, as Slack's ids. Answers quote the name of the slash command. */
export const Origin = z.object({
  teamId: z.string().optional(),
  channelId: z.string(),
  userId: z.string(),
  command: z.string(),
})
export type Origin = z.infer<typeof Origin>

/** Stands for alerts in the `userId` of a requester. Policies name them by the same word. No Slack id has this form. */
export const alertsRequester = 'alerts'

const machinePrefix = 'machine:'

/** Stands for a machine of the policy in the `userId` of a requester. Rules name it by the same words. No Slack id has this form. */
export function machineRequester(name: string): string {
  return `${machinePrefix}${name}`
}

export function machineNameOf({ userId }: Pick<Origin, 'userId'>): string | undefined {
  return userId.startsWith(machinePrefix) ? userId.slice(machinePrefix.length) : undefined
}

export function isMachine({ userId }: Pick<Origin, 'userId'>): boolean {
  return userId === alertsRequester || userId.startsWith(machinePrefix)
}

/** A person as Slack reports them. `machine`: one that Slack does not know, such as alerts. `unknown`: Slack gave no answer. */
export interface Person {
  userId: string
  standing: 'member' | 'guest' | 'bot' | 'deleted' | 'stranger' | 'machine' | 'unknown'
  /** The workspaces and the organization that they belong to. */
  teamIds: string[]
}

/** `shared`: Slack Connect. `unreadable`: a scope is missing. `unknown`: Slack gave no answer. `none`: the Home tab. */
export type ChannelStanding = 'usual' | 'shared' | 'direct' | 'group-direct' | 'unreadable' | 'unknown' | 'none'

export interface Place {
  channelId: string
  teamId: string | undefined
  standing: ChannelStanding
}

/** The members of user groups, by the group's id. `unknown`: Slack gave no answer. */
export type Membership = Map<string, Set<string> | 'unknown'>

export interface Requester {
  person: Person
  place: Place
  membership: Membership
}

/** Returns the person's own id, or that of the user group that contains them. `unknown`: Slack did not list a group that may contain them. */
function findIn({ users, userGroups }: Group, userId: string, membership: Membership): { via: string } | 'unknown' | undefined {
  if (users.includes(userId)) return { via: userId }
  const known = userGroups.find((id) => isMember(id, userId, membership))
  if (known !== undefined) return { via: known }
  return userGroups.every((id) => isMember(id, userId, membership) === false) ? undefined : 'unknown'
}

function isMember(groupId: string, userId: string, membership: Membership): boolean | undefined {
  const members = membership.get(groupId)
  return members === 'unknown' ? undefined : members?.has(userId)
}

/** Why something is allowed. `via`: the user or user group that the rule names, or `member`, `alerts`, a machine, `requester` or `no-approval`. */
export const Grant = z.object({ rule: z.string().optional(), via: z.string() })
export type Grant = z.infer<typeof Grant>

export type Ruling = { allowed: true; grant: Grant } | { allowed: false; denial: Denial }

function allow(grant: Grant): Ruling {
  return { allowed: true, grant }
}

function deny(denial: Denial): Ruling {
  return { allowed: false, denial }
}

interface Actor {
  person: Person
  place: Place
  requesterId: string
}

export interface ActorUnderRule extends Actor {
  /** The current rule of the request. Undefined if the policy no longer has one. */
  rule: PolicyRule | undefined
  membership: Membership
}

export function readerRuling(person: Person, place: Place): Ruling {
  return denialForPersonOrPlace(person, place, 'read') ?? allow({ via: 'member' })
}

/** Whether at least one rule lets a person request a change of this kind in this channel. The project decides later which rule applies. */
export function requesterOfKindRuling({ person, place, membership }: Requester, change: KindOfChange, policy: Policy): Ruling {
  const refused = denialForRequesting(person, place)
  if (refused) return refused
  const rules = rulesOfKind(policy, { ...change, channelId: place.channelId })
  const rulings = rules.map((rule) => requesterGroupRuling(person, rule, membership))
  return rulings.find((ruling) => ruling.allowed) ?? rulings[0] ?? deny(noRule(policy, change))
}

export function requesterRuling({ person, place, membership }: Requester, rule: PolicyRule): Ruling {
  return denialForRequesting(person, place) ?? requesterGroupRuling(person, rule, membership)
}

export function noRule(policy: Policy, { kind, hasProject }: KindOfChange): Denial {
  const rules = rulesNaming(policy, kind).filter((rule) => hasProject || rule.projects === undefined)
  const channels = rules.flatMap((rule) => rule.channels ?? [])
  return { code: 'no-rule', kind, channels: [...new Set(channels)] }
}

/** Whether a person may approve, decline or let pass what others requested. Break-glass has its own ruling. */
export function approverRuling({ person, place, requesterId, rule, membership }: ActorUnderRule): Ruling {
  const refused = denialForPersonOrPlace(person, place, 'decide')
  if (refused) return refused
  if (person.userId === requesterId) return deny({ code: 'own-request' })
  return approverGroupRuling(person.userId, rule, membership)
}

/** Whether an approver may approve the request of others past windows and freezes. */
export function emergencyRuling(actor: ActorUnderRule): Ruling {
  const ruling = approverRuling(actor)
  return ruling.allowed && actor.rule && !actor.rule.emergency ? deny({ code: 'no-emergency', rule: actor.rule.name }) : ruling
}

/** Whether the requester may approve the request alone in an emergency. The rule must allow it, and the requester must be an approver. */
export function breakGlassRuling({ person, place, requesterId, rule, membership }: ActorUnderRule): Ruling {
  const refused = denialForPersonOrPlace(person, place, 'decide')
  if (refused) return refused
  if (person.userId !== requesterId) return deny({ code: 'only-requester-may-break-glass', requester: requesterId })
  if (!rule?.breakGlass) return deny({ code: 'own-request' })
  // Alone, they have to be an approver under each rule.
  const each = rule.approve ? eachOf(rule.approve).map((terms) => ({ ...rule, approve: terms })) : [rule]
  const rulings = each.map((one) => approverGroupRuling(person.userId, one, membership))
  const ruling = rulings.find(({ allowed }) => !allowed) ?? rulings[0] ?? deny({ code: 'rule-gone' })
  // Others approve it, whether or not the requester is an approver.
  return ruling.allowed || ruling.denial.code !== 'not-an-approver' ? ruling : deny({ code: 'own-request' })
}

export function ownerRuling({ person, place, requesterId }: Actor, wants: 'issue' | 'withdraw'): Ruling {
  const reader = readerRuling(person, place)
  if (!reader.allowed) return reader
  return person.userId === requesterId ? allow({ via: 'requester' }) : deny({ code: `only-requester-may-${wants}`, requester: requesterId })
}

/** Whether a person may withdraw an approved request before it is sent, or stop or resume its tracking. The requester and the approvers may. */
export function involvedRuling(actor: ActorUnderRule, wants: 'withdraw' | 'track'): Ruling {
  if (actor.person.userId !== actor.requesterId) {
    const ruling = approverRuling(actor)
    if (ruling.allowed || ruling.denial.code !== 'not-an-approver') return ruling
    const code = wants === 'withdraw' ? 'only-involved-may-withdraw' : 'not-involved'
    return deny({ code, requester: actor.requesterId, approvers: ruling.denial.approvers })
  }
  const reader = readerRuling(actor.person, actor.place)
  return reader.allowed ? allow({ via: 'requester' }) : reader
}

/** Whether a person may start and lift a freeze. `freezers`: who may, undefined for every full member. */
export function freezerRuling({ person, place, membership }: Requester, freezers: Group | undefined): Ruling {
  const refused = denialForPersonOrPlace(person, place, 'freeze')
  if (refused) return refused
  if (!freezers) return allow({ via: 'member' })
  return memberRuling(person.userId, freezers, {}, membership) ?? deny({ code: 'not-a-freezer', freezers })
}

function approverGroupRuling(userId: string, rule: PolicyRule | undefined, membership: Membership): Ruling {
  if (!rule?.approve) return deny({ code: 'rule-gone' })
  return memberRuling(userId, approversOf(rule.approve), rule, membership) ?? deny({ code: 'not-an-approver', approvers: rule.approve })
}

function requesterGroupRuling({ userId, standing }: Person, rule: PolicyRule, membership: Membership): Ruling {
  if (standing === 'machine') return machineRuling(userId, rule)
  if (!rule.request) return allow({ rule: rule.name, via: 'member' })
  return memberRuling(userId, rule.request, rule, membership) ?? deny({ code: 'not-a-requester', requesters: rule.request })
}

function machineRuling(userId: string, rule: PolicyRule): Ruling {
  const machine = userId === alertsRequester ? undefined : userId
  if (!namesMachine(rule, userId)) return deny({ code: 'not-named-by-rule', rule: rule.name, machine })
  return rule.approve ? allow({ rule: rule.name, via: userId }) : deny({ code: 'alerts-need-approval', rule: rule.name, machine })
}

/** Whether a rule lets alerts, or a machine of the policy, request. `everyone` names no machine. */
export function namesMachine({ alerts, machines = [] }: Pick<PolicyRule, 'alerts' | 'machines'>, userId: string): boolean {
  return userId === alertsRequester ? alerts : machines.includes(userId)
}

function memberRuling(userId: string, group: Group, { name }: Partial<PolicyRule>, membership: Membership): Ruling | undefined {
  const found = findIn(group, userId, membership)
  if (found === undefined) return undefined
  return found === 'unknown' ? deny({ code: 'group-unknown' }) : allow({ rule: name, via: found.via })
}

function denialForRequesting(person: Person, place: Place): Ruling | undefined {
  const isDirect = place.standing === 'direct' || place.standing === 'group-direct'
  return denialForPersonOrPlace(person, place, 'request') ?? (isDirect ? deny({ code: 'direct-message' }) : undefined)
}

/** Whether a person belongs to this workspace or organization. Nobody does of whom Slack names none. */
export function isOf({ teamIds }: Person, teamId: string | undefined): boolean {
  return teamId === undefined ? teamIds.length > 0 : teamIds.includes(teamId)
}

function denialForPersonOrPlace(person: Person, { teamId, standing }: Place, action: DeniedAction): Ruling | undefined {
  if (person.standing === 'unknown') return deny({ code: 'person-unknown', action })
  if (person.standing === 'machine' && action !== 'request') return deny({ code: 'bot', action })
  if (person.standing === 'guest' || person.standing === 'bot') return deny({ code: person.standing, action })
  if (person.standing === 'deleted') return deny({ code: 'deactivated', action })
  const isForeign = person.standing !== 'machine' && !isOf(person, teamId)
  if (person.standing === 'stranger' || isForeign) return deny({ code: 'other-workspace', action })
  if (standing === 'shared') return deny({ code: 'shared-channel', action })
  if (standing === 'unknown') return deny({ code: 'channel-unknown', action })
  return undefined
}

/** Enough different approvers, and another person for each of `allOf`, under each rule? `missing`: the least number of further approvals. */
export function tallyApprovals(
  terms: ApproveTerms,
  userIds: string[],
  membership: Membership,
): { enough: boolean; missing: number; counted: number[] } {
  const tallies = eachOf(terms).map((each) => {
    const among = approversOf(each)
    const people = [...new Set(userIds)].filter((id) => typeof findIn(among, id, membership) === 'object')
    const satisfied = mostSatisfied(each.allOf, people, membership)
    return { counted: people.length, missing: Math.max(approvalsNeeded(each) - people.length, each.allOf.length - satisfied, 0) }
  })
  const missing = Math.max(...tallies.map((tally) => tally.missing))
  return { enough: missing === 0, missing, counted: tallies.map(({ counted }) => counted) }
}

/** Counts the members of `allOf` that can be given different people. This is a maximum matching of two short lists. */
function mostSatisfied(allOf: string[], people: string[], membership: Membership): number {
  const assigned = new Map<string, string>()
  const assign = (id: string, tried: Set<string>): boolean => {
    for (const person of people) {
      if (tried.has(person) || !(isUserGroup(id) ? isMember(id, person, membership) : id === person)) continue
      tried.add(person)
      const other = assigned.get(person)
      if (other !== undefined && !assign(other, tried)) continue
      assigned.set(person, id)
      return true
    }
    return false
  }
  return allOf.filter((id) => assign(id, new Set())).length
}
