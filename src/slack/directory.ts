import type { WebClient } from '@slack/web-api'
import { z } from 'zod'
import type { Person } from '../domain/approval.ts'

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
  }),
})

const personCacheMs = 60_000
/** usergroups.users.list allows 20 calls a minute; a person taken out of a group keeps its rights this long at most. */
const groupCacheMs = 15_000

/**
 * Who people are, by Slack's own word (users.info, usergroups.users.list). A look-up that fails gives `unknown`, and whoever
 * decides by it denies.
 */
export function createDirectory({ client, now = Date.now }: { client: WebClient; now?: () => number }) {
  const people = new Map<string, { at: number; person: Person }>()
  const groups = new Map<string, { at: number; members: Set<string> }>()

  async function person(userId: string): Promise<Person> {
    const known = people.get(userId)
    if (known && now() - known.at < personCacheMs) return known.person
    try {
      const { user } = UserResponse.parse(await client.users.info({ user: userId }))
      const found: Person = {
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
      remember(people, userId, { at: now(), person: found })
      return found
    } catch {
      return { userId, standing: 'unknown', teamId: undefined }
    }
  }

  /** The members of each group, or `unknown` where Slack did not tell. */
  async function members(groupIds: string[]): Promise<Map<string, Set<string> | 'unknown'>> {
    const found = await Promise.all(groupIds.map(async (id) => [id, await membersOf(id)] as const))
    return new Map(found)
  }

  async function membersOf(groupId: string): Promise<Set<string> | 'unknown'> {
    const known = groups.get(groupId)
    if (known && now() - known.at < groupCacheMs) return known.members
    try {
      const answer = await client.usergroups.users.list({ usergroup: groupId })
      const set = new Set(answer.users ?? [])
      remember(groups, groupId, { at: now(), members: set })
      return set
    } catch {
      return 'unknown'
    }
  }

  return { person, members }
}
export type Directory = ReturnType<typeof createDirectory>

function remember<V>(cache: Map<string, V>, key: string, value: V): void {
  if (cache.size >= 10_000) cache.clear()
  cache.set(key, value)
}
