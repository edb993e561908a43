import type { AuditEntry } from '../../audit/entry.ts'
import type { Found } from '../../audit/find-entries.ts'
import type { Audit } from '../../audit/intake.ts'
import { type Story, toStories } from './story.ts'

/** The most entries that are searched for. */
const mostFitting = 500

/** The most stories that are shown: about as many as one table can hold with their links and its picker. */
const mostStories = 30

/** The most entries of the stories that are shown. */
const mostEntries = 5_000

/** A request rarely begins more than this many entries before the oldest one that fits. */
const entriesBefore = 5_000

export interface FoundStories extends Omit<Found, 'entries'> {
  /** The story with the newest entry first. */
  stories: Story[]
  /** How many further stories fit. */
  more: number
  /** How many entries are older than those that were searched. */
  older: number
}

/**
 * Finds the newest stories of which an entry fits. A second search finds the other entries of their requests. That search does not stop at
 * any entry, because somebody may have forged an entry to hide older ones.
 */
export async function findStories(audit: Pick<Audit, 'find' | 'size'>, fits: (entry: AuditEntry) => boolean): Promise<FoundStories> {
  const [{ entries: fitting, searched, unreadable, since }, size] = await Promise.all([
    audit.find(fits, { limit: mostFitting }),
    audit.size(),
  ])
  const all = toStories(fitting)
  const shown = all.slice(0, mostStories)
  const ids = new Set(shown.flatMap(({ requestId }) => requestId ?? []))
  const isOfShown = ({ requestId }: AuditEntry) => requestId !== undefined && ids.has(requestId)
  const whole = ids.size > 0 ? await audit.find(isOfShown, { limit: mostEntries, scan: searched + entriesBefore }) : undefined
  const single = shown.filter(({ requestId }) => requestId === undefined)
  return {
    searched,
    unreadable,
    since,
    older: Math.max(0, size - searched),
    stories: toStories([...(whole?.entries ?? []), ...single.flatMap(({ entries }) => entries)]),
    more: all.length - shown.length,
  }
}
