/** Runs at most once per `ms` milliseconds and reuses the result. Probes and scrapes come every few seconds from several sides. */
export function atMostEvery<T>(ms: number, run: () => Promise<T>): () => Promise<T> {
  let last: { at: number; outcome: Promise<T> } | undefined
  return () => {
    if (!last || Date.now() - last.at >= ms) last = { at: Date.now(), outcome: run() }
    return last.outcome
  }
}

/** Shares one run between all calls that arrive during it, so that calls do not pile up behind a dependency that hangs. */
export function shareRuns<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => {
    running ??= run().finally(() => {
      running = undefined
    })
    return running
  }
}
