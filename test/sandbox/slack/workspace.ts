import type { State } from './state.ts'

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
  members: string[]
  isPrivate?: boolean
  isArchived?: boolean
  /** Shared with another organization (Slack Connect). */
  isShared?: boolean
  isDirect?: boolean
  isGroupDirect?: boolean
}

export interface UserGroup {
  id: string
  handle: string
  name: string
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
  /** The time zone of everybody. Default: Europe/Berlin. */
  zone?: string
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

/** Keeps the people, groups and channels of the workspace and their members. A channel is named by id, `#name` or `name`. */
export function createDirectory(workspace: Workspace, state: State) {
  const { people, channels, userGroups, bot, team } = workspace
  const direct = new Map<string, Channel>()

  const botAsPerson: Person = { id: bot.userId, name: bot.name, handle: bot.handle, isBot: true }

  function findPerson(id: string): Person | undefined {
    return id === bot.userId ? botAsPerson : people.find((person) => person.id === id)
  }

  function person(id: string): Person {
    const found = findPerson(id)
    if (found === undefined) throw new Error(`Nobody in ${team.name} has the id ${id}.`)
    return found
  }

  function findChannel(ref: string): Channel | undefined {
    const name = ref.replace(/^#/, '')
    return (
      channels.find((channel) => channel.id === ref || channel.name === name) ?? [...direct.values()].find((channel) => channel.id === ref)
    )
  }

  function channel(ref: string): Channel {
    const found = findChannel(ref)
    if (found === undefined) throw new Error(`There is no channel ${ref} in ${team.name}.`)
    return found
  }

  function userGroup(id: string): UserGroup | undefined {
    return userGroups.find((group) => group.id === id)
  }

  return {
    workspace,
    team,
    bot,
    findPerson,
    person,
    findChannel,
    channel,
    userGroup,

    findByHandle(handle: string): Person | undefined {
      const wanted = handle.replace(/^@/, '').toLowerCase()
      return [...people, botAsPerson].find((one) => one.handle.toLowerCase() === wanted || one.name.toLowerCase() === wanted)
    },

    /** Returns the direct messages between the bot and a person. Opens them if needed. */
    directChannel(userId: string): Channel {
      const existing = direct.get(userId)
      if (existing) return existing
      const opened: Channel = { id: `D${userId.slice(1)}`, name: 'directmessage', topic: '', members: [userId, bot.userId], isDirect: true }
      direct.set(userId, opened)
      return opened
    },

    join(ref: string, userId: string): void {
      const { members } = channel(ref)
      person(userId)
      if (!members.includes(userId)) members.push(userId)
      state.changed({ visible: true })
    },

    leave(ref: string, userId: string): void {
      const found = channel(ref)
      found.members = found.members.filter((member) => member !== userId)
      state.changed({ visible: true })
    },

    setArchived(ref: string, isArchived: boolean): void {
      channel(ref).isArchived = isArchived
      state.changed({ visible: true })
    },

    setUserGroup(id: string, changes: string[] | Partial<Pick<UserGroup, 'members' | 'disabled'>>): void {
      const found = userGroup(id)
      if (found === undefined) throw new Error(`There is no user group ${id} in ${team.name}.`)
      Object.assign(found, Array.isArray(changes) ? { members: [...changes] } : changes)
      state.changed({ visible: false })
    },
  }
}
export type Directory = ReturnType<typeof createDirectory>

const domains = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:com|net|org|io|dev|cloud|app|co|de|eu|fr|it|nl|uk|us)(?:[/?#]\S*)?$/i

/**
 * Returns the text of a command as the bot receives it with `should_escape`. `&`, `<` and `>` are entities. Mentions, channels, addresses
 * and domain names are Slack's markup (docs.slack.dev/interactivity/implementing-slash-commands#creating_commands).
 */
export function commandText(text: string, directory: Directory): string {
  const safe = text.trim().replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return safe.replaceAll(/\S+/g, (word) => escapeWord(word, directory))
}

function escapeWord(word: string, directory: Directory): string {
  if (word.startsWith('@')) return mention(word, directory)
  if (word.startsWith('#')) {
    const channel = directory.findChannel(word)
    return channel ? `<#${channel.id}|${channel.name}>` : word
  }
  if (/^https?:\/\//i.test(word)) return `<${word}>`
  if (domains.test(word)) return `<http://${word}|${word}>`
  return word
}

function mention(word: string, directory: Directory): string {
  const handle = word.slice(1)
  if (handle === 'here' || handle === 'channel' || handle === 'everyone') return `<!${handle}>`
  const person = directory.findByHandle(handle)
  if (person) return `<@${person.id}|${person.handle}>`
  const group = directory.workspace.userGroups.find((one) => one.handle === handle)
  return group ? `<!subteam^${group.id}|@${group.handle}>` : word
}
