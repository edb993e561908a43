import type { WebClient } from '@slack/web-api'
import { z } from 'zod'
import type { ChannelStanding, Membership, Person } from '../../domain/people.ts'
import { isUserGroup } from '../../domain/policy.ts'
import { classifySlackFailure } from '../web-api/failure.ts'
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

const ChannelResponse = z.object({
  channel: z.object({
    is_im: z.boolean().optional(),
    is_mpim: z.boolean().optional(),
    is_ext_shared: z.boolean().optional(),
    is_pending_ext_shared: z.boolean().optional(),
  }),
})

const personCacheMs = 60_000
/** The greatest age of what is known about a person when they request or decide. */
const freshMs = 10_000
const channelCacheMs = 60_000
const handlesCacheMs = 600_000
/**
 * Slack allows 20 calls of `usergroups.users.list` a minute. A decision reads the group again. A person who was removed from a group can
 * still request and read for this long.
 */
const groupCacheMs = 15_000

/**
 * Reads people, user groups and channels from Slack (`users.info`, `usergroups.users.list`, `conversations.info`). A read that fails gives
 * `unknown`, and the rules deny what is unknown.
 */
export function createDirectory({ client, now = Date.now }: { client: WebClient; now?: () => number }) {
  const people = createLookup(async (userId): Promise<{ person: Person; name: string | undefined }> => {
    const { user } = UserResponse.parse(await client.users.info({ user: userId }))
    const person: Person = { userId, standing: standingOf(user), teamId: user.team_id }
    return { person, name: user.profile?.display_name || user.real_name || user.name }
  }, now)

  const groups = createLookup(async (groupId) => {
    const { users = [] } = await client.usergroups.users.list({ usergroup: groupId })
    return new Set(users)
  }, now)

  const channels = createLookup(async (channelId): Promise<ChannelStanding> => {
    const { channel } = ChannelResponse.parse(await client.conversations.info({ channel: channelId }))
    return channelStandingOf(channel)
  }, now)

  const handles = createLookup(async () => {
    const { usergroups = [] } = await client.usergroups.list()
    return new Map(usergroups.flatMap(({ id, handle }) => (id && handle ? [[id, handle] as const] : [])))
  }, now)

  async function person(userId: string, { fresh = false } = {}): Promise<Person> {
    try {
      return (await people.find(userId, fresh ? freshMs : personCacheMs)).person
    } catch {
      return { userId, standing: 'unknown', teamId: undefined }
    }
  }

  /** Returns the members of each group, or `unknown` if it could not be read. `fresh` reads every group again, whatever is cached. */
  async function members(groupIds: string[], { fresh = false } = {}): Promise<Membership> {
    const found = await Promise.all(groupIds.map(async (id) => [id, await membersOfGroup(id, fresh)] as const))
    return new Map(found)
  }

  async function membersOfGroup(groupId: string, fresh: boolean): Promise<Set<string> | 'unknown'> {
    try {
      return await groups.find(groupId, fresh ? 0 : groupCacheMs)
    } catch (error) {
      // Many decisions within a minute reach the rate limit. Then the cached members count for 15 s, also those that a parallel read cached.
      const cached = classifySlackFailure(error).is === 'rate-limited' ? groups.known(groupId, groupCacheMs) : undefined
      return cached ?? 'unknown'
    }
  }

  async function channel(channelId: string): Promise<ChannelStanding> {
    if (channelId.startsWith('D')) return 'direct'
    try {
      return await channels.find(channelId, channelCacheMs)
    } catch (error) {
      const failure = classifySlackFailure(error)
      // Slack refuses if a scope is missing, or the bot is not in a private channel. Another attempt would not help.
      return failure.is === 'refused' ? 'unreadable' : 'unknown'
    }
  }

  /** Returns the names of people and groups, to show where a mention would notify them. Names that cannot be read are left out. */
  async function names(ids: string[]): Promise<Map<string, string>> {
    const found = new Map<string, string>()
    for (const id of ids) {
      const name = isUserGroup(id) ? (await handlesOfGroups()).get(id) : await nameOf(id)
      if (name) found.set(id, `@${name}`)
    }
    return found
  }

  async function nameOf(userId: string): Promise<string | undefined> {
    await person(userId)
    return people.known(userId, Number.POSITIVE_INFINITY)?.name
  }

  async function handlesOfGroups(): Promise<Map<string, string>> {
    try {
      return await handles.find('all', handlesCacheMs)
    } catch {
      return new Map()
    }
  }

  return { person, members, channel, names }
}

function standingOf(user: z.infer<typeof UserResponse>['user']): Person['standing'] {
  if (user.deleted) return 'deleted'
  if (user.is_bot) return 'bot'
  if (user.is_stranger) return 'stranger'
  return user.is_restricted || user.is_ultra_restricted ? 'guest' : 'member'
}

function channelStandingOf(channel: z.infer<typeof ChannelResponse>['channel']): ChannelStanding {
  if (channel.is_ext_shared || channel.is_pending_ext_shared) return 'shared'
  if (channel.is_im) return 'direct'
  return channel.is_mpim ? 'group-direct' : 'usual'
}
