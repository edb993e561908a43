import type { Workspace } from './api.ts'
import type { Names } from './inline.ts'
import type { Directory } from './selection.ts'

/** What ids are called in this workspace, as this person reads them. */
export function namesOf({ people, strangers, channels, bot, userGroups }: Workspace, me: string): Names {
  return {
    me,
    user: (id) => (id === bot.id ? bot.name : [...people, ...strangers].find((one) => one.id === id)?.name),
    channel: (id) => channels.find((one) => one.id === id)?.name,
    group: (id) => userGroups?.find((one) => one.id === id)?.handle,
  }
}

/** What selects of people and channels offer. */
export function directoryOf({ people, channels }: Workspace): Directory {
  const option = (value: string, text: string) => ({ value, text: { type: 'plain_text' as const, text } })
  return {
    users: people.map(({ id, name }) => option(id, name)),
    channels: channels.map(({ id, name }) => option(id, `#${name}`)),
  }
}
