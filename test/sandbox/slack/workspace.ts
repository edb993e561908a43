/** The role of a person in the sandbox. Slack itself has no such roles. */
export type Role = 'requester' | 'approver' | 'outsider'

/** A person as in `users.info`. `handle` is what people type after `@`. */
export interface Person {
  id: string
  name: string
  handle: string
  title?: string
  role?: Role
  /** The color of the picture on the page, as `#rrggbb`. */
  color?: string
  isBot?: boolean
  isRestricted?: boolean
  isUltraRestricted?: boolean
  /** Belongs to another workspace, named by `teamId`, and is here through Slack Connect. */
  isStranger?: boolean
  teamId?: string
  deleted?: boolean
}

export interface Channel {
  id: string
  name: string
  topic: string
  /** User ids, with the bot if it was invited. */
  members: string[]
  isPrivate?: boolean
  isArchived?: boolean
  /** Shared with another organization (Slack Connect). */
  isShared?: boolean
  /** The direct messages between the bot and one person. */
  isDirect?: boolean
  /** The direct messages of several people. */
  isGroupDirect?: boolean
}

export interface UserGroup {
  id: string
  handle: string
  name: string
  /** User ids. */
  members: string[]
  /** A disabled group still exists, and its member list is empty. */
  disabled?: boolean
}

export interface Bot {
  userId: string
  botId: string
  appId: string
  name: string
  handle: string
}

export interface Workspace {
  team: { id: string; name: string; domain: string }
  people: Person[]
  channels: Channel[]
  userGroups: UserGroup[]
  bot: Bot
}

const everybody = ['U0ADA00001', 'U0BEN00001', 'U0CHI00001', 'U0DOV00001']

/**
 * The sandbox's workspace: a requester, two approvers, a guest, a channel with the bot and one without, one of Slack Connect with a person
 * of the other organisation, and direct messages of several people.
 */
export const nimbusWorks: Workspace = {
  team: { id: 'T0NIMBUS01', name: 'Nimbus Works', domain: 'nimbus-works' },
  people: [
    { id: 'U0ADA00001', name: 'Ada Okafor', handle: 'ada', title: 'Platform engineer', role: 'requester', color: '#7c3aed' },
    { id: 'U0BEN00001', name: 'Ben Laurent', handle: 'ben', title: 'Infrastructure lead', role: 'approver', color: '#0f766e' },
    { id: 'U0CHI00001', name: 'Chiara Conti', handle: 'chiara', title: 'Site reliability engineer', role: 'approver', color: '#be185d' },
    {
      id: 'U0DOV00001',
      name: 'Dov Meyer',
      handle: 'dov',
      title: 'Contractor (guest)',
      role: 'outsider',
      color: '#b45309',
      isRestricted: true,
    },
    { id: 'U0EVE00001', name: 'Eve Park', handle: 'eve', title: 'Engineer at Partner Ltd', isStranger: true, teamId: 'T0PARTNER1' },
  ],
  channels: [
    { id: 'C0OPS00001', name: 'ops', topic: 'Servers, addresses, moves', members: [...everybody, 'U0LOCKKEEP'] },
    { id: 'C0GENERAL1', name: 'general', topic: 'Everything else', members: everybody },
    {
      id: 'C0SHARED01',
      name: 'partner-ops',
      topic: 'Shared with Partner Ltd',
      members: [...everybody, 'U0EVE00001', 'U0LOCKKEEP'],
      isShared: true,
    },
    {
      id: 'C0MPDM0001',
      name: 'mpdm-ada--ben--lockkeeper-1',
      topic: '',
      members: ['U0ADA00001', 'U0BEN00001', 'U0LOCKKEEP'],
      isPrivate: true,
      isGroupDirect: true,
    },
  ],
  userGroups: [{ id: 'S0ONCALL01', handle: 'oncall', name: 'On call', members: ['U0BEN00001', 'U0CHI00001'] }],
  bot: { userId: 'U0LOCKKEEP', botId: 'B0LOCKKEEP', appId: 'A0LOCKKEEP', name: 'Lockkeeper', handle: 'lockkeeper' },
}
