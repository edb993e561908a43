import type { ChangeKind } from './change.ts'

/** A person as Slack knows them. `unknown` when Slack did not tell. */
export interface Person {
  userId: string
  standing: 'member' | 'guest' | 'bot' | 'deleted' | 'stranger' | 'unknown'
  teamId: string | undefined
}

export interface Group {
  users: string[]
  userGroups: string[]
}

/** Who may ask for and decide what. Ids are Slack's. */
export interface Rules {
  approvers: Group
  /** Undefined: every full member. */
  operators: Group | undefined
  /** Undefined: every channel. */
  channels: string[] | undefined
  /** Kinds that are carried out without an approval. */
  noApproval: ChangeKind[]
}

/** Members by user group id; `unknown` where Slack did not tell. */
export type Membership = Map<string, Set<string> | 'unknown'>

export type Ruling = { allowed: true; rule: string } | { allowed: false; why: string }

/** Whether a person may look at the account through this bot. */
export function judgeReader(person: Person, teamId: string | undefined): Ruling {
  return judgeStanding(person, teamId, 'look at the account') ?? { allowed: true, rule: 'every full member may look' }
}

/** Whether a person may ask for changes in a channel. Whatever is not known denies. */
export function judgeRequester(
  person: Person,
  where: { channelId: string; teamId?: string | undefined },
  rules: Rules,
  membership: Membership,
): Ruling {
  const stranger = judgeStanding(person, where.teamId, 'ask for changes')
  if (stranger) return stranger
  if (where.channelId.startsWith('D')) {
    return {
      allowed: false,
      why: 'Changes cannot be asked for in a direct message, because nobody else could approve them there. Ask in a channel.',
    }
  }
  if (rules.channels && !rules.channels.includes(where.channelId)) {
    return {
      allowed: false,
      why: `Changes cannot be asked for in this channel. Ask in ${rules.channels.map((id) => `<#${id}>`).join(' or ')}.`,
    }
  }
  if (!rules.operators) return { allowed: true, rule: 'every full member may ask' }
  return judgeMembership(person, rules.operators, membership, {
    rule: 'OPERATORS',
    denied:
      'You are not among the people who may ask for changes here (OPERATORS in the configuration). Ask one of them, or the people who run this bot.',
  })
}

/** Whether a person may decide a request that `requesterId` asked for. Whatever is not known denies. */
export function judgeApprover(
  person: Person,
  request: { requesterId: string; teamId: string | undefined },
  rules: Rules,
  membership: Membership,
): Ruling {
  const stranger = judgeStanding(person, request.teamId, 'decide requests')
  if (stranger) return stranger
  if (person.userId === request.requesterId) {
    return { allowed: false, why: 'You asked for this yourself, so another person has to decide it. You can withdraw it.' }
  }
  return judgeMembership(person, rules.approvers, membership, {
    rule: 'APPROVERS',
    denied: `You are not an approver of this. ${whoApproves(rules.approvers)} can decide it.`,
  })
}

/** The approvers as mentions, for cards and refusals. */
export function whoApproves(group: Group): string {
  const names = [...group.users.map((id) => `<@${id}>`), ...group.userGroups.map((id) => `<!subteam^${id}>`)]
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} or ${names.at(-1)}` : (names[0] ?? 'Nobody')
}

function judgeStanding(person: Person, teamId: string | undefined, action: string): Ruling | undefined {
  const deny = (why: string): Ruling => ({ allowed: false, why })
  if (person.standing === 'unknown') {
    return deny(`Slack did not tell who you are just now, and without that nobody may ${action}. Nothing was done: try again in a minute.`)
  }
  if (person.standing === 'guest') return deny(`Guests may not ${action}. Ask a full member of this workspace.`)
  if (person.standing === 'bot') return deny(`Bots may not ${action}.`)
  if (person.standing === 'deleted') return deny(`Deactivated accounts may not ${action}.`)
  if (person.standing === 'stranger' || (teamId !== undefined && person.teamId !== teamId)) {
    return deny(`People of other workspaces may not ${action}. Ask a member of this one.`)
  }
  return undefined
}

function judgeMembership(person: Person, group: Group, membership: Membership, words: { rule: string; denied: string }): Ruling {
  if (group.users.includes(person.userId)) return { allowed: true, rule: `${words.rule}: ${person.userId}` }
  let unknown = false
  for (const id of group.userGroups) {
    const members = membership.get(id) ?? 'unknown'
    if (members === 'unknown') unknown = true
    else if (members.has(person.userId)) return { allowed: true, rule: `${words.rule}: ${id}` }
  }
  if (unknown) {
    return {
      allowed: false,
      why: 'Slack did not tell who is in the user group just now, so this cannot be checked. Nothing was done: try again in a minute.',
    }
  }
  return { allowed: false, why: words.denied }
}
