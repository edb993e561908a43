export interface JournalEntry {
  method: string
  /** As sent, without the query. */
  path: string
  query: Record<string, string>
  /** Without `authorization`. */
  headers: Record<string, string | string[] | undefined>
  /** Parsed; the text itself when it is no JSON, undefined when there is none. */
  body: unknown
  /** Milliseconds since 1970. */
  time: number
}

/** Every request that came in, in order, whatever became of it. */
export function createJournal() {
  const entries: JournalEntry[] = []
  return Object.assign(entries, {
    /** Those that are no GET. */
    writes: () => entries.filter(({ method }) => method !== 'GET'),
    clear: () => void entries.splice(0),
  })
}
export type Journal = ReturnType<typeof createJournal>
