/** The same answer for a while: probes and scrapes come every few seconds, from several sides, and what they ask need not be asked as often. */
export function atMostEvery<T>(ms: number, run: () => Promise<T>): () => Promise<T> {
  let last: { at: number; outcome: Promise<T> } | undefined
  return () => {
    if (!last || Date.now() - last.at >= ms) last = { at: Date.now(), outcome: run() }
    return last.outcome
  }
}

/** However many ask at once, it runs once: questions must not pile up behind something that hangs. */
export function shareRuns<T>(run: () => Promise<T>): () => Promise<T> {
  let underway: Promise<T> | undefined
  return () => {
    underway ??= run().finally(() => {
      underway = undefined
    })
    return underway
  }
}
