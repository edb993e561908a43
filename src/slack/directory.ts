import type { WebClient } from '@slack/web-api'
import { z } from 'zod'
import type { ChannelStanding, Membership, Person } from '../domain/approval.ts'
import { isUserGroup } from '../domain/policy.ts'
import { classifySlackFailure } from './failure.ts'
import { createLookup } from './lookup.ts'

/** `is_app_user` is no sign of a bot: it tells of people who authorized this app. */
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
/** Before anything is asked for or decided. */
const freshMs = 10_000
const channelCacheMs = 60_000
const handlesCacheMs = 600_000
/** usergroups.users.list allows 20 calls a minute. A decision asks anew; a person taken out of a group may ask and see this long. */
const groupCacheMs = 15_000

/**
 * Who people are, and what channels are, by Slack's own word (users.info, usergroups.users.list, conversations.info). A look-up that
 * fails gives `unknown`, and whoever decides by it denies.
 */
export function createDirectory({ client, now = Date.now }: { client: WebClient; now?: () => number }) {
  const people = createLookup(async (userId): Promise<{ person: Person; name: string | undefined }> => {
    const { user } = UserResponse.parse(await client.users.info({ user: userId }))
    const person: Person = {
      userId,
      standing: user.deleted
        ? 'deleted'
        : user.is_bot
          ? 'bot'
          : user.is_stranger
            ? 'stranger'
            : user.is_restricted || user.is_ultra_restricted
              ? 'guest'
              : 'member',
      teamId: user.team_id,
    }
    return { person, name: user.profile?.display_name || user.real_name || user.name }
  }, now)

  const groups = createLookup(async (groupId) => {
    const { users = [] } = await client.usergroups.users.list({ usergroup: groupId })
    return new Set(users)
  }, now)

  const channels = createLookup(async (channelId): Promise<ChannelStanding> => {
    const { channel: info } = ChannelResponse.parse(await client.conversations.info({ channel: channelId }))
    const shared = info.is_ext_shared || info.is_pending_ext_shared
    return shared ? 'shared' : info.is_im ? 'direct' : info.is_mpim ? 'group-direct' : 'usual'
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

  /** The members of each group, or `unknown` where Slack did not tell. `fresh`: asked again, whatever is known. */
  async function members(groupIds: string[], { fresh = false } = {}): Promise<Membership> {
    const found = await Promise.all(groupIds.map(async (id) => [id, await membersOf(id, fresh)] as const))
    return new Map(found)
  }

  async function membersOf(groupId: string, fresh: boolean): Promise<Set<string> | 'unknown'> {
    try {
      return await groups.find(groupId, fresh ? 0 : groupCacheMs)
    } catch (error) {
      // Many decisions within a minute: what was known seconds ago, or what another of them was told meanwhile, stands for a while.
      const stands = classifySlackFailure(error).is === 'rate-limited' ? groups.known(groupId, groupCacheMs) : undefined
      return stands ?? 'unknown'
    }
  }

  async function channel(channelId: string): Promise<ChannelStanding> {
    if (channelId.startsWith('D')) return 'direct'
    try {
      return await channels.find(channelId, channelCacheMs)
    } catch (error) {
      const failure = classifySlackFailure(error)
      // Refused, because a scope is missing or a private channel is one that the bot is not in: asking again would not help.
      return failure.is === 'refused' ? 'untold' : 'unknown'
    }
  }

  /** What people and groups are called, to be shown where a mention would call them. Those that Slack does not tell are left out. */
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
export type Directory = ReturnType<typeof createDirectory>
