import type { Origin } from '../../domain/origin.ts'
import type { ChannelStanding, Membership, Person, Place } from '../../domain/people.ts'

/** Who people are and what channels are, by Slack's own word. What Slack does not tell is `unknown`. */
export interface People {
  /** `fresh`: reads again what is older than a few seconds. */
  person(userId: string, options?: { fresh?: boolean }): Promise<Person>
  members(groupIds: string[], options?: { fresh?: boolean }): Promise<Membership>
  channel(channelId: string): Promise<ChannelStanding>
}

interface StandingsParts {
  people: People
  /** The workspace of the bot. A click may name the workspace of the person who clicked instead. */
  homeTeamId: () => string | undefined
}

interface Freshness {
  fresh: boolean
}

/** Gathers what is judged by: who a person is, what kind of channel it is, and who is in the user groups. */
export function createStandings({ people, homeTeamId }: StandingsParts) {
  /** The workspace that everybody has to be of. */
  function teamIdFor({ teamId }: Origin): string | undefined {
    return homeTeamId() ?? teamId
  }

  async function personAndPlace(origin: Origin, channelId: string, freshness: Freshness): Promise<{ person: Person; place: Place }> {
    const [person, standing] = await Promise.all([people.person(origin.userId, freshness), standingOf(channelId)])
    return { person, place: { channelId, teamId: teamIdFor(origin), standing } }
  }

  /** The Home tab has no channel. */
  async function standingOf(channelId: string): Promise<ChannelStanding> {
    return channelId === '' ? 'none' : people.channel(channelId)
  }

  async function members(groupIds: string[], freshness?: Freshness): Promise<Membership> {
    return people.members([...new Set(groupIds)], freshness)
  }

  return { personAndPlace, members, person: people.person, teamIdFor }
}
export type Standings = ReturnType<typeof createStandings>
