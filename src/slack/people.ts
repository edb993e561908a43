import type { ConversationsInfoResponse, UsersInfoResponse, WebClient } from '@slack/web-api'
import type { ChannelStanding, Membership, Person } from '../domain/approval.ts'
import { isUserGroup } from '../domain/policy.ts'
import { isZone } from '../domain/times.ts'
import { classifySlackFailure } from './web-api.ts'

/** How old what is known may be, in ms. A person who requests or decides is read again after 10 s. */
const maxAgeMs = { person: 60_000, freshPerson: 10_000, channel: 60_000, handles: 600_000 }

/** By what rests on them, in ms. People without rights cost no reads. Who was removed can request for 15 s. A decision reads again. */
const membersMaxAgeMs = { decision: 0, request: 15_000, refusal: 60_000 }
export type MembersFor = keyof typeof membersMaxAgeMs

/**
 * Slack allows 20 calls of `usergroups.users.list` a minute. The last 8 are left for decisions of people whom the known list shows as members.
 * Each process counts its own calls: what is refused costs a process one call a minute and group, so several processes stay below the limit, too.
 */
const readsBeforeReserve = 12

const membersPerPage = 999

const mostPages = 5

type SlackUser = NonNullable<UsersInfoResponse['user']>
type SlackChannel = NonNullable<ConversationsInfoResponse['channel']>

/** A read of Slack that fails gives `unknown`, and the rules deny what is unknown. */
export function createDirectory({ client, now = Date.now }: { client: WebClient; now?: () => number }) {
  /** When the calls of the last minute that read members of groups began. */
  let reads: number[] = []

  const people = createLookup(async (userId): Promise<{ person: Person; name: string | undefined; zone: string | undefined }> => {
    const { user } = await client.users.info({ user: userId })
    if (user?.id !== userId) throw new Error('users.info answered about somebody else')
    const person: Person = { userId, standing: standingOf(user), teamIds: teamIdsOf(user) }
    return { person, name: user.profile?.display_name || user.real_name || user.name, zone: user.tz }
  }, now)

  const channels = createLookup(async (id): Promise<SlackChannel> => {
    const { channel } = await client.conversations.info({ channel: id })
    if (!channel) throw new Error('conversations.info answered without a channel')
    return channel
  }, now)

  const groups = createLookup(async (groupId) => {
    reads.push(now())
    const { users = [] } = await client.usergroups.users.list({ usergroup: groupId })
    return new Set(users)
  }, now)

  const handles = createLookup(async () => {
    const { usergroups = [] } = await client.usergroups.list()
    return new Map(usergroups.flatMap(({ id, handle }) => (id && handle ? [[id, handle] as const] : [])))
  }, now)

  async function person(userId: string, { fresh = false } = {}): Promise<Person> {
    try {
      return (await people.find(userId, fresh ? maxAgeMs.freshPerson : maxAgeMs.person)).person
    } catch {
      return { userId, standing: 'unknown', teamIds: [] }
    }
  }

  async function members(groupIds: string[], purpose: MembersFor = 'request'): Promise<Membership> {
    return new Map(await Promise.all(groupIds.map(async (id) => [id, await membersOfGroup(id, purpose)] as const)))
  }

  async function membersOfGroup(groupId: string, purpose: MembersFor): Promise<Set<string> | 'unknown'> {
    const maxAge = membersMaxAgeMs[purpose]
    reads = reads.filter((beganAt) => now() - beganAt < 60_000)
    const isReserveLeft = reads.length >= readsBeforeReserve
    if (purpose !== 'decision' && isReserveLeft && !groups.share(groupId, maxAge)) return lastKnown(groupId, purpose)
    try {
      return await (purpose === 'decision' ? groups.findNew(groupId) : groups.find(groupId, maxAge))
    } catch (error) {
      return classifySlackFailure(error).is === 'rate-limited' ? lastKnown(groupId, purpose) : 'unknown'
    }
  }

  /** Returns the members of a group that cannot be read now. A list of any age refuses, and shows for whom the reserve is; it allows nothing. */
  function lastKnown(groupId: string, purpose: MembersFor): Set<string> | 'unknown' {
    return groups.known(groupId, purpose === 'refusal' ? Number.POSITIVE_INFINITY : membersMaxAgeMs.request) ?? 'unknown'
  }

  async function channel(channelId: string): Promise<ChannelStanding> {
    if (channelId.startsWith('D')) return 'direct'
    try {
      return channelStandingOf(await channels.find(channelId, maxAgeMs.channel))
    } catch (error) {
      // Slack refuses if a scope is missing, or the bot is not in a private channel. Another attempt would not help.
      return classifySlackFailure(error).is === 'refused' ? 'unreadable' : 'unknown'
    }
  }

  /** *Not a member* is never cached: people invite Lockkeeper and try again at once. Slack hides private channels from apps outside. */
  async function hasBot(channelId: string): Promise<boolean | 'unknown'> {
    try {
      const known = channels.known(channelId, maxAgeMs.channel)
      const { is_member: is } = known?.is_member ? known : await channels.find(channelId, 0)
      return is ?? 'unknown'
    } catch (error) {
      const failure = classifySlackFailure(error)
      return failure.is === 'refused' && failure.error === 'channel_not_found' ? false : 'unknown'
    }
  }

  /** Everybody can join a public channel; only members see a private one. `unknown` without an answer, or with more members than are read. */
  async function isOpenTo(channelId: string, userId: string): Promise<boolean | 'unknown'> {
    try {
      const { is_private: isPrivate } = await channels.find(channelId, maxAgeMs.channel)
      return isPrivate ? await hasMember(channelId, userId) : true
    } catch {
      return 'unknown'
    }
  }

  async function hasMember(channel: string, userId: string): Promise<boolean | 'unknown'> {
    let cursor: string | undefined
    for (let page = 0; page < mostPages; page += 1) {
      const { members, response_metadata: more } = await client.conversations.members({ channel, limit: membersPerPage, cursor })
      if (!members) return 'unknown'
      if (members.includes(userId)) return true
      cursor = more?.next_cursor
      if (!cursor) return false
    }
    return 'unknown'
  }

  async function names(ids: string[]): Promise<Map<string, string>> {
    const found = new Map<string, string>()
    for (const id of ids) {
      await Promise.resolve<unknown>(isUserGroup(id) ? handles.find('all', maxAgeMs.handles) : person(id)).catch(() => {})
      const name = knownName(id)
      if (name) found.set(id, name)
    }
    return found
  }

  /** The time zone of a person in Slack. Without an answer it is UTC, and every answer names the zone. */
  async function zone(userId: string): Promise<string> {
    await person(userId)
    return knownZone(userId) ?? 'UTC'
  }

  /** The same without a call, for a form, which has to open within 3 s. Undefined if Slack was not asked yet. */
  function knownZone(userId: string): string | undefined {
    const found = people.known(userId, Number.POSITIVE_INFINITY)?.zone ?? ''
    return isZone(found) ? found : undefined
  }

  /** The name of a person, a user group or a public channel without a call. Undefined if Slack was not asked yet. */
  function knownName(id: string): string | undefined {
    if (/^[CG]/.test(id)) {
      const found = channels.known(id, Number.POSITIVE_INFINITY)
      return found?.name && !found.is_private ? `#${found.name}` : undefined
    }
    const found = isUserGroup(id)
      ? handles.known('all', Number.POSITIVE_INFINITY)?.get(id)
      : people.known(id, Number.POSITIVE_INFINITY)?.name
    return found && `@${found}`
  }

  return { person, members, channel, hasBot, isOpenTo, names, zone, knownZone, knownName }
}
export type Directory = ReturnType<typeof createDirectory>

/**
 * In an Enterprise Grid, `team_id` can be absent, one of several workspaces, or the organization (bolt-js, issue 1875), and `enterprise_user`
 * names all workspaces.
 */
function teamIdsOf({ team_id: teamId, enterprise_user: enterprise }: SlackUser): string[] {
  return [teamId, enterprise?.enterprise_id, ...(enterprise?.teams ?? [])].filter((id) => typeof id === 'string')
}

/** `is_app_user` is left out: it marks people who authorized this app, not bots. */
function standingOf(user: SlackUser): Person['standing'] {
  if (user.deleted) return 'deleted'
  if (user.is_bot) return 'bot'
  if (user.is_stranger) return 'stranger'
  return user.is_restricted || user.is_ultra_restricted ? 'guest' : 'member'
}

function channelStandingOf(channel: SlackChannel): ChannelStanding {
  if (channel.is_ext_shared || channel.is_pending_ext_shared) return 'shared'
  if (channel.is_im) return 'direct'
  return channel.is_mpim ? 'group-direct' : 'usual'
}

interface Read<Found> {
  beganAt: number
  found: Found
}

/** Concurrent callers share a read. Its age counts from its beginning: the data may have changed since. Errors are thrown, not cached. */
function createLookup<Found>(read: (id: string) => Promise<Found>, now: () => number) {
  const cached = new Map<string, Read<Found>>()
  const underway = new Map<string, Read<Promise<Found>>>()
  const queued = new Map<string, Promise<Found>>()

  const ifYoung = <T>(one: Read<T> | undefined, maxAge: number) => (one && now() - one.beganAt < maxAge ? one.found : undefined)

  const known = (id: string, maxAge: number): Found | undefined => ifYoung(cached.get(id), maxAge)

  /** Also returns the answer of a read that has not ended. */
  const share = (id: string, maxAge: number): Found | Promise<Found> | undefined => known(id, maxAge) ?? ifYoung(underway.get(id), maxAge)

  /** Returns the answer of a read that began within the last `maxAge`, or else of a new one (always with 0). */
  const find = (id: string, maxAge: number): Found | Promise<Found> => share(id, maxAge) ?? begin(id)

  /** Returns the answer of a read that begins after this call. All who call while a read is under way share the next one. */
  function findNew(id: string): Promise<Found> {
    const current = underway.get(id)
    if (!current) return begin(id)
    const next =
      queued.get(id) ??
      Promise.allSettled([current.found]).then(() => {
        queued.delete(id)
        return begin(id)
      })
    queued.set(id, next)
    return next
  }

  async function begin(id: string): Promise<Found> {
    const started = { beganAt: now(), found: read(id) }
    underway.set(id, started)
    try {
      const found = await started.found
      // The answer of a read that began later may already be there.
      if ((cached.get(id)?.beganAt ?? 0) <= started.beganAt) {
        if (cached.size >= 10_000) cached.clear()
        cached.set(id, { beganAt: started.beganAt, found })
      }
      return found
    } finally {
      if (underway.get(id) === started) underway.delete(id)
    }
  }

  return { known, share, find, findNew }
}
