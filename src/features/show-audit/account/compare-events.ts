import type { Audit } from '../../../audit/intake.ts'
import type { WordsOfChanges } from '../words/entry-words.ts'
import type { AccountEvents, EventsRead, Resource } from './account-events.ts'
import { type MatchedEvent, matchEvents } from './match-events.ts'
import { isAboutWrite } from './own-writes.ts'

interface OwnEventsParts {
  audit: Pick<Audit, 'find'>
  accountEvents: Pick<AccountEvents, 'readEvents'>
  catalog: WordsOfChanges
}

/** Creates the reads of the account's events, compared with all of Lockkeeper's own writes to the same resources. */
export function createCompareEvents({ audit, accountEvents, catalog }: OwnEventsParts) {
  return async function compareEvents(resources: Resource[], since: number): Promise<{ events: MatchedEvent[]; read: EventsRead }> {
    const ids = new Set(resources.map(({ targetId }) => targetId))
    // Read all writes, even those that the search excludes. Otherwise their events would be shown as made outside Lockkeeper.
    const [read, writes] = await Promise.all([
      accountEvents.readEvents(resources, new Date(since)),
      audit.find((entry) => isAboutWrite(entry, ids), { limit: 5_000, onlyGenuine: true }),
    ])
    return { events: matchEvents(read.events, writes.entries, writes.all ? undefined : writes.since, catalog), read }
  }
}
