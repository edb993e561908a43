import type { FoundEntry } from '../../audit/find-entries.ts'
import type { RequestState } from '../../domain/request.ts'
import { stateOfAct } from '../../requests/steps.ts'

/** The entries about one request, or a single entry that is about none. */
export interface Story {
  requestId: string | undefined
  /** Oldest first. */
  entries: FoundEntry[]
}

/** Groups entries by their requests. The story with the newest entry comes first. */
export function toStories(entries: FoundEntry[]): Story[] {
  const groups = Map.groupBy(entries.toSorted(bySeq), ({ requestId, seq }) => requestId ?? seq)
  return [...groups.values()]
    .map((group) => ({ requestId: group[0]?.requestId, entries: group }))
    .toSorted((a, b) => newestOf(b) - newestOf(a))
}

function bySeq(a: FoundEntry, b: FoundEntry): number {
  return a.seq - b.seq
}

function newestOf({ entries }: Story): number {
  return entries.at(-1)?.seq ?? 0
}

/** What a story is told by: its genuine entries. Without any it is told by the others, and the row says that they are not genuine. */
export function trustedEntries({ entries }: Story): FoundEntry[] {
  const genuine = entries.filter(({ verdict }) => verdict === 'genuine')
  return genuine.length > 0 ? genuine : entries
}

/** The state that a story ended in, with the entry that says so. Undefined if that entry is not among those that were searched. */
export function outcomeOf(story: Story): { state: RequestState | 'discarded'; entry: FoundEntry } | undefined {
  const told = trustedEntries(story).flatMap((entry) => {
    const state = stateIn(entry)
    return state === undefined ? [] : [{ state, entry }]
  })
  return told.at(-1)
}

function stateIn({ act }: FoundEntry): RequestState | 'discarded' | undefined {
  if (act === 'request') return 'waiting'
  return act === 'discard' ? 'discarded' : stateOfAct(act)
}
