import { type Group, isUserGroup } from './policy.ts'

/** A person as Slack knows them. `unknown` if Slack did not say. */
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

/** Members by user group id; `unknown` if Slack did not say. */
export type Membership = Map<string, Set<string> | 'unknown'>

/** What Slack said of a person and a place when it was judged whether the person may request something there. */
export interface Requester {
  person: Person
  place: Place
  /** The user groups of the rules that were judged. */
  membership: Membership
}

/**
 * By what a person is in a group: their own id, or the id of a user group. `unknown` if only a user group could contain them that Slack did
 * not tell of. Undefined if they are not in it.
 */
export function findIn({ users, userGroups }: Group, userId: string, membership: Membership): { via: string } | 'unknown' | undefined {
  if (users.includes(userId)) return { via: userId }
  const known = userGroups.find((id) => membersOf(id, membership)?.has(userId))
  if (known !== undefined) return { via: known }
  return userGroups.every((id) => membersOf(id, membership)) ? undefined : 'unknown'
}

/** Whether this id is the person's, or the id of a user group that they are known to be in. */
export function standsFor(id: string, userId: string, membership: Membership): boolean {
  return isUserGroup(id) ? (membersOf(id, membership)?.has(userId) ?? false) : id === userId
}

function membersOf(groupId: string, membership: Membership): Set<string> | undefined {
  const members = membership.get(groupId)
  return members === 'unknown' ? undefined : members
}
