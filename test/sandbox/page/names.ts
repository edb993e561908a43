import type { Workspace } from './api.ts'
import type { Names } from './inline.ts'

/** Returns the names of ids in this workspace, as this person sees them. */
export function namesOf({ people, strangers, channels, bot, userGroups }: Workspace, me: string): Names {
  return {
    me,
    user: (id) => (id === bot.id ? bot.name : [...people, ...strangers].find((one) => one.id === id)?.handle),
    channel: (id) => channels.find((one) => one.id === id)?.name,
    group: (id) => userGroups?.find((one) => one.id === id)?.handle,
  }
}
