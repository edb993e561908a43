export interface JournalEntry {
  method: string
  /** As sent, without the query. */
  path: string
  query: Record<string, string>
  /** Without `authorization`. */
  headers: Record<string, string | string[] | undefined>
  /** Parsed. The text itself if it is not JSON, undefined if there is no body. */
  body: unknown
  /** Milliseconds since 1970. */
  time: number
  /** Beyond the limit of its key, and therefore never applied. */
  refused?: true
}

/** Records every request in order, whatever its answer. */
export function createJournal() {
  const entries: JournalEntry[] = []
  return Object.assign(entries, {
    /** Returns the requests that are not GET. */
    writes: () => entries.filter(({ method }) => method !== 'GET'),
    clear: () => void entries.splice(0),
  })
}
export type Journal = ReturnType<typeof createJournal>
