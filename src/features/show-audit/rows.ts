import { eventRow } from './account/event-row.ts'
import type { MatchedEvent } from './account/match-events.ts'
import type { AuditRow } from './audit-row.ts'
import type { Story } from './story.ts'
import { storyRow } from './story-row.ts'
import type { WordsOfChanges } from './words/entry-words.ts'

interface RowParts {
  events: MatchedEvent[]
  /** The addresses of the request messages, by the ids of the requests. */
  addresses: Map<string, string | undefined>
  catalog: WordsOfChanges
}

/** Makes the rows of stories and events. An event that confirms an entry of a story is shown in that story's row. */
export function auditRows(stories: Story[], { events, addresses, catalog }: RowParts): AuditRow[] {
  const ofStories = stories.map((story) =>
    storyRow(story, { confirmedBy: confirming(story, events), address: addresses.get(story.requestId ?? ''), catalog }),
  )
  return [...ofStories, ...otherEvents(stories, events).map(eventRow)]
}

/** Finds the account's events that confirm no entry of the stories. */
export function otherEvents(stories: Story[], events: MatchedEvent[]): MatchedEvent[] {
  const inStories = new Set(stories.flatMap((story) => confirming(story, events)))
  return events.filter((event) => !inStories.has(event))
}

/** Finds the account's events that confirm an entry of the story. */
function confirming({ entries }: Story, events: MatchedEvent[]): MatchedEvent[] {
  const seqs = new Set(entries.map(({ seq }) => seq))
  return events.filter((event) => event.is === 'confirms' && seqs.has(event.entry.seq))
}
