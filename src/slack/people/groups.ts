import type { WebClient } from '@slack/web-api'
import type { Membership } from '../../domain/approval/people.ts'
import { classifySlackFailure } from '../web-api/failure.ts'
import { createLookup } from './lookup.ts'

const handlesCacheMs = 600_000

/**
 * How old the members of a group may be, by what rests on them. Refusals and lists take what is known, so that people without rights cost no
 * reads. A person who was removed from a group can still request for 15 s. A decision reads the group again.
 */
const maxAgesMs = { decision: 0, request: 15_000, refusal: 60_000 }
export type MembersFor = keyof typeof maxAgesMs

/**
 * Slack allows 20 calls of `usergroups.users.list` a minute. The last 8 are left for decisions of people whom the known list shows as members.
 * Each process counts its own calls: what is refused costs a process one call a minute and group, so several processes stay below the limit, too.
 */
const readsBeforeReserve = 12

/** Reads user groups from Slack (`usergroups.users.list`, `usergroups.list`). */
export function createGroups(client: WebClient, now: () => number) {
  /** When the calls of the last minute began. */
  let reads: number[] = []
  const groups = createLookup(async (groupId) => {
    reads.push(now())
    const { users = [] } = await client.usergroups.users.list({ usergroup: groupId })
    return new Set(users)
  }, now)

  const handlesOfAll = createLookup(async () => {
    const { usergroups = [] } = await client.usergroups.list()
    return new Map(usergroups.flatMap(({ id, handle }) => (id && handle ? [[id, handle] as const] : [])))
  }, now)

  /** Returns the members of each group, or `unknown` if it could not be read. */
  async function members(groupIds: string[], purpose: MembersFor = 'request'): Promise<Membership> {
    const found = await Promise.all(groupIds.map(async (id) => [id, await membersOfGroup(id, purpose)] as const))
    return new Map(found)
  }

  async function membersOfGroup(groupId: string, purpose: MembersFor): Promise<Set<string> | 'unknown'> {
    const maxAgeMs = maxAgesMs[purpose]
    if (purpose !== 'decision' && isReserveLeft() && !groups.share(groupId, maxAgeMs)) return lastKnown(groupId, purpose)
    try {
      return await (purpose === 'decision' ? groups.findNew(groupId) : groups.find(groupId, maxAgeMs))
    } catch (error) {
      return classifySlackFailure(error).is === 'rate-limited' ? lastKnown(groupId, purpose) : 'unknown'
    }
  }

  /** Whether only the calls that are left for decisions are left. */
  function isReserveLeft(): boolean {
    reads = reads.filter((beganAt) => now() - beganAt < 60_000)
    return reads.length >= readsBeforeReserve
  }

  /** Returns the members of a group that cannot be read now. A list of any age refuses, and shows for whom the reserve is; it allows nothing. */
  function lastKnown(groupId: string, purpose: MembersFor): Set<string> | 'unknown' {
    return groups.known(groupId, purpose === 'refusal' ? Number.POSITIVE_INFINITY : maxAgesMs.request) ?? 'unknown'
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
