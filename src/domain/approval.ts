import type { ChangeKind } from './change-kind.ts'
import {
  type ApproveTerms,
  approvalsNeeded,
  approversOf,
  type Group,
  isUserGroup,
  type Policy,
  type PolicyRule,
  rulesOfKind,
} from './policy.ts'

/** A person as Slack knows them. `unknown` when Slack did not tell. */
export interface Person {
  userId: string
  standing: 'member' | 'guest' | 'bot' | 'deleted' | 'stranger' | 'unknown'
  teamId: string | undefined
}

/**
 * A channel as Slack knows it. `shared`: with another organisation (Slack Connect). `unreadable`: Slack does not tell this bot, because a
 * scope is missing. `unknown`: Slack did not answer. `none`: no channel, on the Home tab.
 */
export type ChannelStanding = 'usual' | 'shared' | 'direct' | 'group-direct' | 'unreadable' | 'unknown' | 'none'

export interface Place {
  channelId: string
  teamId: string | undefined
  standing: ChannelStanding
}

/** Members by user group id; `unknown` where Slack did not tell. */
export type Membership = Map<string, Set<string> | 'unknown'>

/** A kind of change, and its name in words: `moving an Elastic IP`. */
export interface NamedKind {
  kind: ChangeKind
  label: string
}

/** `unknown`: denied because Slack did not tell, and not because the rules say no. */
export type Ruling = { allowed: true; rule: string } | { allowed: false; why: string; unknown?: true }

const deny = (why: string): Ruling => ({ allowed: false, why })
const denyUnknown = (why: string): Ruling => ({ allowed: false, why, unknown: true })

/** Whether a person may use this bot at all, and look at the account through it. */
export function judgeReader(person: Person, place: Place): Ruling {
  return judgeWhoAndWhere(person, place, 'use this bot') ?? { allowed: true, rule: 'every full member may look' }
}

/** Whether some rule lets a person ask for a change of this kind in this channel. Which one holds is seen once its project is known. */
export function judgeRequesterOfKind(person: Person, place: Place, named: NamedKind, policy: Policy, membership: Membership): Ruling {
  const refused = judgeAskingHere(person, place)
  if (refused) return refused
  const rules = rulesOfKind(policy, named.kind, place.channelId)
  const rulings = rules.map((rule) => judgeMembership(person, rule, membership))
  return rulings.find((ruling) => ruling.allowed) ?? rulings[0] ?? deny(noRule(policy, named))
}

/** Whether a person may ask for a change under this rule. Whatever is not known denies. */
export function judgeRequester(person: Person, place: Place, rule: PolicyRule, membership: Membership): Ruling {
  return judgeAskingHere(person, place) ?? judgeMembership(person, rule, membership)
}

/** Why nothing of this kind can be asked for here: there is no rule for it. */
export function noRule(policy: Policy, { kind, label }: NamedKind): string {
  const elsewhere = new Set(policy.rules.filter((rule) => rule.changes.includes(kind)).flatMap((rule) => rule.channels ?? []))
  const where = elsewhere.size > 0 ? ` Ask in ${[...elsewhere].map((id) => `<#${id}>`).join(' or ')}.` : ''
  const then = where || ' The people who run this bot can add a rule for it.'
  return `No rule of the policy lets anybody ask for ${label} in this channel, so it is refused.${then}`
}

/** Whether a person may decide a request. Whatever is not known denies. */
export function judgeApprover(
  person: Person,
  place: Place,
  requesterId: string,
  rule: PolicyRule | undefined,
  membership: Membership,
): Ruling {
  const refused = judgeWhoAndWhere(person, place, 'decide requests')
  if (refused) return refused
  if (person.userId === requesterId) {
    return deny('You asked for this yourself, so another person has to decide it. You can withdraw it.')
  }
  return judgeAmongApprovers(person.userId, rule, membership)
}

/** Whether the requester may approve it alone, in an emergency: only where the rule says so, and only who could approve it for others. */
export function judgeBreakGlass(person: Person, place: Place, rule: PolicyRule, membership: Membership): Ruling {
  const refused = judgeWhoAndWhere(person, place, 'decide requests')
  if (refused) return refused
  if (!rule.breakGlass) return deny('You asked for this yourself, so another person has to decide it. You can withdraw it.')
  const ruling = judgeAmongApprovers(person.userId, rule, membership)
  return ruling.allowed ? { allowed: true, rule: `${ruling.rule} (break-glass)` } : ruling
}

function judgeAmongApprovers(userId: string, rule: PolicyRule | undefined, membership: Membership): Ruling {
  if (!rule?.approve)
    return deny('No rule of the policy says who may decide this any more, so nobody may. It can be withdrawn and asked for again.')
  const denied = `You are not an approver of this. ${whoApproves(rule.approve)} can decide it.`
  return judgeGroup(userId, approversOf(rule.approve), membership, { rule: rule.name, denied })
}

/**
 * Whether these people together are enough, by what Slack says of the groups now: enough different ones, and for each who must be
 * heard another one. `missing`: how many more it takes at least.
 */
export function tallyApprovals(terms: ApproveTerms, userIds: string[], membership: Membership): { enough: boolean; missing: number } {
  const among = approversOf(terms)
  const people = [...new Set(userIds)].filter((id) => judgeGroup(id, among, membership, { rule: '', denied: '' }).allowed)
  const heard = mostHeard(terms.allOf, people, membership)
  const missing = Math.max(approvalsNeeded(terms) - people.length, terms.allOf.length - heard, 0)
  return { enough: missing === 0, missing }
}

/** For how many of those who must be heard there is a person of their own (a maximum matching; both sides are few). */
function mostHeard(parties: string[], people: string[], membership: Membership): number {
  const speaksFor = new Map<string, string>()
  const find = (party: string, tried: Set<string>): boolean => {
    for (const person of people) {
      if (tried.has(person) || !belongs(person, party, membership)) continue
      tried.add(person)
      const other = speaksFor.get(person)
      if (other !== undefined && !find(other, tried)) continue
      speaksFor.set(person, party)
      return true
    }
    return false
  }
  return parties.filter((party) => find(party, new Set())).length
}

function belongs(userId: string, party: string, membership: Membership): boolean {
  if (!isUserGroup(party)) return userId === party
  const members = membership.get(party)
  return members instanceof Set && members.has(userId)
}

const mentionOf = (id: string): string => (isUserGroup(id) ? `<!subteam^${id}>` : `<@${id}>`)

/** The approvers of a rule in words: `@ben or @oncall`, `2 of @ben, @chi or @oncall`, `@network and @security`. `show` names one. */
export function whoApproves(terms: ApproveTerms, show: (id: string) => string = mentionOf): string {
  const any = listed([...terms.anyOf.users, ...terms.anyOf.userGroups].map(show), 'or')
  const all = listed(terms.allOf.map(show), 'and')
  if (all === '') return terms.approvals > 1 ? `${terms.approvals} of ${any}` : any || 'Nobody'
  const more = approvalsNeeded(terms) - terms.allOf.length
  if (more <= 0 || any === '') return all
  return `${all}, and ${more} more of ${any}`
}

/** A group of people in words. */
export function whoIsIn(group: Group, show: (id: string) => string = mentionOf): string {
  return listed([...group.users, ...group.userGroups].map(show), 'and')
}

function listed(names: string[], word: 'and' | 'or'): string {
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}` : (names[0] ?? '')
}

function judgeAskingHere(person: Person, place: Place): Ruling | undefined {
  const refused = judgeWhoAndWhere(person, place, 'ask for changes')
  if (refused) return refused
  if (place.standing === 'direct' || place.standing === 'group-direct') {
    return deny('Changes cannot be asked for in a direct message, because nobody else could approve them there. Ask in a channel.')
  }
  return undefined
}

/** Who somebody is, and what kind of channel it is, before any rule is looked at. */
function judgeWhoAndWhere(person: Person, { teamId, standing }: Place, action: string): Ruling | undefined {
  if (person.standing === 'unknown') {
    return denyUnknown(
      `Slack did not tell who you are just now, and without that nobody may ${action}. Nothing was done: try again in a minute.`,
    )
  }
  if (person.standing === 'guest') return deny(`Guests may not ${action}. Ask a full member of this workspace.`)
  if (person.standing === 'bot') return deny(`Bots may not ${action}.`)
  if (person.standing === 'deleted') return deny(`Deactivated accounts may not ${action}.`)
  if (person.standing === 'stranger' || person.teamId === undefined || (teamId !== undefined && person.teamId !== teamId)) {
    return deny(`People of other workspaces may not ${action}. Ask a member of this one.`)
  }
  if (standing === 'shared') {
    return deny(
      `This channel is shared with another organisation (Slack Connect), and nobody may ${action} in one. Use a channel of this workspace alone.`,
    )
  }
  if (standing === 'unknown') {
    return denyUnknown(
      `Slack did not tell just now whether this channel is shared with another organisation, and without that nobody may ${action} here. Nothing was done: try again in a minute.`,
    )
  }
  return undefined
}

function judgeMembership(person: Person, rule: PolicyRule, membership: Membership): Ruling {
  if (!rule.request) return { allowed: true, rule: `${rule.name}: every full member may ask` }
  return judgeGroup(person.userId, rule.request, membership, {
    rule: rule.name,
    denied: `You are not among the people who may ask for this here (${whoIsIn(rule.request)}). Ask one of them, or the people who run this bot.`,
  })
}

function judgeGroup(userId: string, group: Group, membership: Membership, words: { rule: string; denied: string }): Ruling {
  if (group.users.includes(userId)) return { allowed: true, rule: `${words.rule}: ${userId}` }
  let unknown = false
  for (const id of group.userGroups) {
    const members = membership.get(id) ?? 'unknown'
    if (members === 'unknown') unknown = true
    else if (members.has(userId)) return { allowed: true, rule: `${words.rule}: ${id}` }
  }
  if (unknown) {
    return denyUnknown(
      'Slack did not tell who is in the user group just now, so this cannot be checked. Nothing was done: try again in a minute.',
    )
  }
  return deny(words.denied)
}
