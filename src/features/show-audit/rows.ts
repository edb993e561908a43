import type { FoundEntry } from '../../audit/find-entries.ts'
import type { Mrkdwn } from '../../slack/text/text.ts'
import { eventRow } from './account/event-row.ts'
import type { MatchedEvent } from './account/match-events.ts'
import { entryRow } from './entry-row.ts'
import type { WordsOfChanges } from './entry-words.ts'

/** Shows entries and events by time, newest first. An event that confirms a shown entry is in the row of that entry. */
export function auditRows(entries: FoundEntry[], events: MatchedEvent[], catalog: WordsOfChanges): Mrkdwn[] {
  const shown = new Set(entries.map(({ seq }) => seq))
  const isInEntryRow = (event: MatchedEvent) => event.is === 'confirms' && shown.has(event.entry.seq)
  const ofEntries = entries
    .toSorted((a, b) => b.seq - a.seq)
    .map((entry) => {
      const confirmedBy = events.filter((event) => event.is === 'confirms' && event.entry.seq === entry.seq)
      return { at: entry.at, row: entryRow(entry, confirmedBy, catalog) }
    })
  const ofEvents = events.filter((event) => !isInEntryRow(event)).map((event) => ({ at: event.at ?? 0, row: eventRow(event) }))
  return [...ofEvents, ...ofEntries].toSorted((a, b) => b.at - a.at).map(({ row }) => row)
}
