import type { WebClient } from '@slack/web-api'
import { z } from 'zod'
import type { Person } from '../../domain/approval/people.ts'
import { isUserGroup } from '../../domain/policy/policy.ts'
import { createChannels } from './channels.ts'
import { createGroups } from './groups.ts'
import { createLookup } from './lookup.ts'

/** `is_app_user` is left out: it marks people who authorized this app, not bots. */
const UserResponse = z.object({
  user: z.object({
    id: z.string(),
    team_id: z.string().optional(),
    deleted: z.boolean().optional(),
    is_bot: z.boolean().optional(),
    is_restricted: z.boolean().optional(),
    is_ultra_restricted: z.boolean().optional(),
    is_stranger: z.boolean().optional(),
    name: z.string().optional(),
    real_name: z.string().optional(),
    profile: z.object({ display_name: z.string().optional() }).optional(),
  }),
})

const personCacheMs = 60_000
/** The greatest age of a cached answer about a person who requests or decides. */
const freshMs = 10_000

/**
 * Reads people, user groups and channels from Slack (`users.info`, `usergroups.users.list`, `conversations.info`). A read that fails gives
 * `unknown`, and the rules deny what is unknown.
 */
export function createDirectory({ client, now = Date.now }: { client: WebClient; now?: () => number }) {
  const groups = createGroups(client, now)
  const channels = createChannels(client, now)
  const people = createLookup(async (userId): Promise<{ person: Person; name: string | undefined }> => {
    const { user } = UserResponse.parse(await client.users.info({ user: userId }))
    if (user.id !== userId) throw new Error('users.info answered about somebody else')
    const person: Person = { userId, standing: standingOf(user), teamId: user.team_id }
    return { person, name: user.profile?.display_name || user.real_name || user.name }
  }, now)

  async function person(userId: string, { fresh = false } = {}): Promise<Person> {
    try {
      return (await people.find(userId, fresh ? freshMs : personCacheMs)).person
    } catch {
      return { userId, standing: 'unknown', teamId: undefined }
    }
  }

  /** Returns the names of people and groups, to show where a mention would notify them. Names that cannot be read are left out. */
  async function names(ids: string[]): Promise<Map<string, string>> {
    const found = new Map<string, string>()
    for (const id of ids) {
      const name = isUserGroup(id) ? (await groups.handles()).get(id) : await nameOf(id)
      if (name) found.set(id, `@${name}`)
    }
    return found
  }

  async function nameOf(userId: string): Promise<string | undefined> {
    await person(userId)
    return people.known(userId, Number.POSITIVE_INFINITY)?.name
  }

  return { person, members: groups.members, channel: channels.standing, hasBot: channels.hasBot, isOpenTo: channels.isOpenTo, names }
}

function standingOf(user: z.infer<typeof UserResponse>['user']): Person['standing'] {
  if (user.deleted) return 'deleted'
  if (user.is_bot) return 'bot'
  if (user.is_stranger) return 'stranger'
  return user.is_restricted || user.is_ultra_restricted ? 'guest' : 'member'
}
