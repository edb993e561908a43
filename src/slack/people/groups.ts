import type { WebClient } from '@slack/web-api'
import type { Membership } from '../../domain/approval/people.ts'
import { classifySlackFailure } from '../web-api/failure.ts'
import { createLookup } from './lookup.ts'

const handlesCacheMs = 600_000
/**
 * Slack allows 20 calls of `usergroups.users.list` a minute. A decision reads the group again. A person who was removed from a group can
 * still request and read for this long.
 */
const groupCacheMs = 15_000

/** Reads user groups from Slack (`usergroups.users.list`, `usergroups.list`). */
export function createGroups(client: WebClient, now: () => number) {
  const groups = createLookup(async (groupId) => {
    const { users = [] } = await client.usergroups.users.list({ usergroup: groupId })
    return new Set(users)
  }, now)

  const handlesOfAll = createLookup(async () => {
    const { usergroups = [] } = await client.usergroups.list()
    return new Map(usergroups.flatMap(({ id, handle }) => (id && handle ? [[id, handle] as const] : [])))
  }, now)

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

  /** Returns the handles of all groups by id. Returns none if they cannot be read. */
  async function handles(): Promise<Map<string, string>> {
    try {
      return await handlesOfAll.find('all', handlesCacheMs)
    } catch {
      return new Map()
    }
  }

  return { members, handles }
}
