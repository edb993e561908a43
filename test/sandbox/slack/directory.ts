import type { State } from './state.ts'
import type { Channel, Person, UserGroup, Workspace } from './workspace.ts'

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

    isMember: (ref: string, userId: string): boolean => channel(ref).members.includes(userId),

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

    setPerson(userId: string, changes: Partial<Person>): void {
      Object.assign(person(userId), changes)
      state.changed({ visible: true })
    },

    /** Adds members to the workspace, and to every channel that everybody is in. */
    addPeople(added: Person[]): void {
      people.push(...added.map((one) => ({ ...one })))
      for (const { isGroupDirect, members } of channels) if (!isGroupDirect) members.push(...added.map(({ id }) => id))
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
