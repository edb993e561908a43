import type { AccountEvent } from '../../domain/account/account-event.ts'
import { eventRow } from './account/event-row.ts'
import type { AuditRow } from './audit-row.ts'
import type { Story } from './story.ts'
import { storyRow } from './story-row.ts'
import type { WordsOfChanges } from './words/entry-words.ts'

interface RowParts {
  events: AccountEvent[]
  /** The addresses of the request messages, by the ids of the requests. */
  addresses: Map<string, string | undefined>
  catalog: WordsOfChanges
}

/** Makes the rows of stories and of the account's events. */
export function auditRows(stories: Story[], { events, addresses, catalog }: RowParts): AuditRow[] {
  return [...stories.map((story) => storyRow(story, { address: addresses.get(story.requestId ?? ''), catalog })), ...events.map(eventRow)]
}
