import type { FoundEntry } from '../../audit/find-entries.ts'
import type { RequestState } from '../../domain/request/request.ts'
import type { ItemState } from '../../domain/request/request-item.ts'
import { stateOfAct, stateOfItemAct } from '../../requests/steps.ts'

/** The entries about one request, or a single entry that is about none. */
export interface Story {
  requestId: string | undefined
  /** Oldest first. */
  entries: FoundEntry[]
}

/** Groups entries by their requests. The story with the newest entry comes first. */
export function toStories(entries: FoundEntry[]): Story[] {
  const groups = Map.groupBy(
    entries.toSorted((a, b) => a.seq - b.seq),
    ({ requestId, seq }) => requestId ?? seq,
  )
  return [...groups.values()].map((group) => ({ requestId: group[0]?.requestId, entries: group })).toSorted((a, b) => newest(b) - newest(a))
}

function newest({ entries }: Story): number {
  return entries.at(-1)?.seq ?? 0
}

/** Returns the entries that a story is made of: the genuine ones. If there are none, returns the others, which are marked. */
export function trustedEntries({ entries }: Story): FoundEntry[] {
  const genuine = entries.filter(({ verdict }) => verdict === 'genuine')
  return genuine.length > 0 ? genuine : entries
}

export interface Outcome {
  state: RequestState | 'discarded'
  /** The entry that says so. */
  entry: FoundEntry
}

/** Finds the last state of a request. Undefined if no entry that was found says it. */
export function outcomeOf(entries: FoundEntry[]): Outcome | undefined {
  const states = entries.flatMap((entry) => {
    const state = stateIn(entry)
    return state === undefined ? [] : [{ state, entry }]
  })
  return states.at(-1)
}

/** Returns the last state of each item that the entries are about. */
export function itemStatesIn(entries: FoundEntry[]): { state: ItemState }[] {
  const states = new Map<string, ItemState>()
  for (const { item, act } of entries) {
    const state = stateOfItemAct(act)
    if (item !== undefined && state !== undefined) states.set(item, state)
  }
  return [...states.values()].map((state) => ({ state }))
}

function stateIn({ act }: FoundEntry): Outcome['state'] | undefined {
  if (act === 'request') return 'waiting'
  return act === 'discard' ? 'discarded' : stateOfAct(act)
}
