import { isMachine, type Origin } from '../../domain/approval/origin.ts'
import type { ChannelStanding, Membership, Person, Place } from '../../domain/approval/people.ts'
import type { MembersFor } from '../../slack/people/groups.ts'

/** Reads people, groups and channels from Slack. A standing is `unknown` if Slack does not answer. */
export interface People {
  /** `fresh`: read from Slack again if the cached answer is older than a few seconds. */
  person(userId: string, options?: { fresh?: boolean }): Promise<Person>
  members(groupIds: string[], purpose?: MembersFor): Promise<Membership>
  channel(channelId: string): Promise<ChannelStanding>
  /** Whether Lockkeeper is a member of the channel. */
  hasBot(channelId: string): Promise<boolean | 'unknown'>
  /** Whether the person could type a command in the channel. */
  isOpenTo(channelId: string, userId: string): Promise<boolean | 'unknown'>
}

interface StandingsParts {
  people: People
  /** The workspace of the bot. A click may name the workspace of the person who clicked instead. */
  homeTeamId: () => string | undefined
}

/** `fresh`: something is allowed by it, so Slack is read again unless it was read just now. */
export interface Freshness {
  fresh: boolean
}

/** Creates the reads that rights are judged by: the person, the kind of channel, and the members of user groups. */
export function createStandings({ people, homeTeamId }: StandingsParts) {
  /** Returns the workspace that people must belong to. */
  function teamIdFor({ teamId }: Origin): string | undefined {
    return homeTeamId() ?? teamId
  }

  async function personAndPlace(origin: Origin, channelId: string, freshness: Freshness): Promise<{ person: Person; place: Place }> {
    const [person, standing] = await Promise.all([requesterOf(origin, freshness), standingOf(channelId)])
    return { person, place: { channelId, teamId: teamIdFor(origin), standing } }
  }

  /** Slack knows nothing about alerts. */
  async function requesterOf(origin: Origin, freshness: Freshness): Promise<Person> {
    if (!isMachine(origin)) return people.person(origin.userId, freshness)
    return { userId: origin.userId, standing: 'machine', teamId: teamIdFor(origin) }
  }

  /** The Home tab has no channel: its id is empty. */
  async function standingOf(channelId: string): Promise<ChannelStanding> {
    return channelId === '' ? 'none' : people.channel(channelId)
  }

  async function members(groupIds: string[], purpose: MembersFor): Promise<Membership> {
    return people.members([...new Set(groupIds)], purpose)
  }

  return { personAndPlace, members, person: people.person, teamIdFor }
}
export type Standings = ReturnType<typeof createStandings>
