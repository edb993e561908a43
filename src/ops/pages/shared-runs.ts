/**
 * Runs at most once per `ms` milliseconds and reuses the result. Probes and scrapes come every few seconds from several sides. `forget`
 * drops the result, so that the next call runs again.
 */
export function atMostEvery<T>(ms: number, run: () => Promise<T>): (() => Promise<T>) & { forget: () => void } {
  let last: { at: number; outcome: Promise<T> } | undefined
  const latest = () => {
    if (!last || Date.now() - last.at >= ms) last = { at: Date.now(), outcome: run() }
    return last.outcome
  }
  const forget = () => {
    last = undefined
  }
  return Object.assign(latest, { forget })
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
