import type { AuditEntry } from '../../audit/entry.ts'
import type { Found } from '../../audit/find-entries.ts'
import type { Audit } from '../../audit/intake.ts'
import { type Story, toStories } from './story.ts'

/** The most entries that are searched for. */
const mostFitting = 500

/** The most stories that are shown. A table with more would exceed Slack's limit of characters. */
const mostStories = 50

/** The most entries of the shown stories. */
const mostEntries = 5_000

/** A request rarely lasts longer than this many entries of the audit. */
const longestStory = 5_000

export interface FoundStories extends Omit<Found, 'entries'> {
  /** The story with the newest entry first. */
  stories: Story[]
  /** How many further stories fit, of those that were searched. */
  more: number
}

/**
 * Finds the newest stories with an entry that fits. A second search finds the other entries of their requests. It is never ended by what an
 * entry says, because somebody may have put that entry there to hide older ones.
 */
export async function findStories(audit: Pick<Audit, 'find'>, fits: (entry: AuditEntry) => boolean): Promise<FoundStories> {
  const { entries: fitting, ...search } = await audit.find(fits, { limit: mostFitting })
  const all = toStories(fitting)
  const shown = all.slice(0, mostStories)
  const ids = new Set(shown.flatMap(({ requestId }) => requestId ?? []))
  const scan = search.searched + longestStory
  const isOfShown = ({ requestId }: AuditEntry) => requestId !== undefined && ids.has(requestId)
  const { entries } = ids.size > 0 ? await audit.find(isOfShown, { limit: mostEntries, scan }) : { entries: [] }
  const single = shown.filter(({ requestId }) => requestId === undefined).flatMap((story) => story.entries)
  return { ...search, stories: toStories([...entries, ...single]), more: all.length - shown.length }
}
