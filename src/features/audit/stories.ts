import { AuditEntry } from '../../audit/chain.ts'
import { entries, type FoundEntry, findEntries, markCopies, parseFields, verdictOf } from '../../audit/find.ts'
import type { AuditApp } from '../../audit/intake.ts'

/** The entries about one request, or a single entry that is about none. */
export interface Story {
  requestId: string | undefined
  /** Oldest first. Each says what is changed, which is stored only in the entries of the request and of its write. */
  entries: FoundEntry[]
}

interface FoundStories {
  /** The story with the newest entry that fits first. `newest`: that entry. */
  stories: (Story & { newest: FoundEntry })[]
  /** Whether older stories may fit, too. */
  isCut: boolean
  isWhole: boolean
  searched: number
  unreadable: number
  /** When the oldest searched entry was noted, in ms since 1970 by Redis' clock. */
  since: number | undefined
}

/** The most stories that are shown: about as many as one table can hold with their links and its picker. */
const mostStories = 30

const mostSearched = 20_000

/** A request rarely begins more than this many entries before one of its steps. */
const mostBefore = 5_000

interface UnreadEntry {
  text: string
  fields: Record<string, unknown>
  entry: AuditEntry
}

/** Finds the newest stories of which an entry fits. Reads from the end of the chain until each of them has begun. */
export async function findStories(app: AuditApp, fits: (entry: FoundEntry) => boolean): Promise<FoundStories> {
  // What could not be chained is missing.
  await app.audit.chained().catch(() => {})
  const found: FoundStories = { stories: [], isCut: false, isWhole: true, searched: 0, unreadable: 0, since: undefined }
  const open = new Map<string, UnreadEntry[]>()
  let end = mostSearched
  let isFull = false
  for await (const { text } of entries(app, 'xrevrange')) {
    if (found.searched >= end || (isFull && open.size === 0)) {
      found.isWhole = false
      break
    }
    found.searched += 1
    const fields = parseFields(text)
    const entry = AuditEntry.safeParse(fields).data
    if (!fields || !entry) {
      found.unreadable += 1
      continue
    }
    found.since = entry.at
    const id = entry.requestId ?? String(entry.seq)
    if (isFull && !open.has(id)) continue
    const story = open.get(id) ?? []
    open.set(id, story)
    story.push({ text, fields, entry })
    // A forged beginning must not hide what was before.
    if (entry.requestId !== undefined && !(entry.act === 'request' && verdictOf(app, text, fields) === 'genuine')) continue
    open.delete(id)
    add(story)
    if (found.stories.length < mostStories || isFull) continue
    isFull = true
    end = Math.min(end, found.searched + mostBefore)
  }
  for (const story of open.values()) add(story)
  found.isCut = found.stories.length > mostStories || (isFull && !found.isWhole)
  found.stories = found.stories.toSorted((a, b) => b.newest.seq - a.newest.seq).slice(0, mostStories)
  return found

  function add(unread: UnreadEntry[]): void {
    const verified = unread.map(({ text, fields, entry }) => ({ ...entry, verdict: verdictOf(app, text, fields) }))
    const story = storyOf(unread[0]?.entry.requestId, markCopies(verified))
    const newest = story.entries.findLast(fits)
    if (newest) found.stories.push({ ...story, newest })
  }
}

export async function readStory(app: AuditApp, requestId: string): Promise<Story> {
  return storyOf(requestId, await findEntries(app, () => true, { requestId, searched: mostSearched }))
}

/** Makes a story of entries, newest first. */
export function storyOf(requestId: string | undefined, entries: FoundEntry[]): Story {
  const genuine = entries.filter(({ verdict }) => verdict === 'genuine')
  const request = genuine.find(({ act }) => act === 'request')
  return { requestId, entries: entries.toReversed().map((entry) => ({ ...aboutOf(entry), ...entry })) }

  function aboutOf({ item, verdict }: FoundEntry): Partial<AuditEntry> {
    // What nobody verified stands for itself.
    if (verdict !== 'genuine' || !request) return {}
    const { kind, resource, facts, channelId, teamId, payload } = request
    if (item === undefined) return { kind, resource, facts, channelId, teamId, payload }
    const ofItem = genuine.find((other) => other.item === item && other.facts !== undefined)
    return { kind, channelId, teamId, payload, resource: ofItem?.resource, facts: ofItem?.facts }
  }
}
