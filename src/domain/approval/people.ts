import { type Group, isUserGroup } from '../policy/policy.ts'

/** A person as Slack reports them. `machine`: alerts, which Slack does not know. `unknown`: Slack gave no answer. */
export interface Person {
  userId: string
  standing: 'member' | 'guest' | 'bot' | 'deleted' | 'stranger' | 'machine' | 'unknown'
  teamId: string | undefined
}

/**
 * A channel as Slack reports it. `shared`: with another organisation (Slack Connect). `unreadable`: a scope is missing. `unknown`: Slack
 * gave no answer. `none`: the Home tab, which is no channel.
 */
export type ChannelStanding = 'usual' | 'shared' | 'direct' | 'group-direct' | 'unreadable' | 'unknown' | 'none'

export interface Place {
  channelId: string
  teamId: string | undefined
  standing: ChannelStanding
}

/** The members of user groups, by the group's id. `unknown`: Slack gave no answer. */
export type Membership = Map<string, Set<string> | 'unknown'>

/** A person and a place as Slack reported them when the right to request something was judged. */
export interface Requester {
  person: Person
  place: Place
  /** The user groups of the rules that were judged. */
  membership: Membership
}

/**
 * Finds a person in a group. Returns their own id, or the id of the user group that contains them. Returns `unknown` if Slack did not list
 * the members of a user group that may contain them, and undefined if they are not in the group.
 */
export function findIn({ users, userGroups }: Group, userId: string, membership: Membership): { via: string } | 'unknown' | undefined {
  if (users.includes(userId)) return { via: userId }
  const known = userGroups.find((id) => membersOf(id, membership)?.has(userId))
  if (known !== undefined) return { via: known }
  return userGroups.every((id) => membersOf(id, membership)) ? undefined : 'unknown'
}

/** Whether this id is the person's, or that of a user group with them as a known member. */
export function standsFor(id: string, userId: string, membership: Membership): boolean {
  return isUserGroup(id) ? (membersOf(id, membership)?.has(userId) ?? false) : id === userId
}

function membersOf(groupId: string, membership: Membership): Set<string> | undefined {
  const members = membership.get(groupId)
  return members === 'unknown' ? undefined : members
}
