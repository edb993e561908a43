export interface Observed {
  /** Is called after every change. Returns a function that stops it. */
  subscribe: (listener: () => void) => () => void
  /** Returns what has happened so far, for the message of a timeout. */
  describe: () => string
}

/** Resolves with the first truthy value of `predicate`, which is called now and after every change. A throw means "not yet". */
export function until<T>(
  observed: Observed,
  predicate: () => T,
  options: { timeoutMs?: number; what?: string } = {},
): Promise<NonNullable<T>> {
  const timeoutMs = options.timeoutMs ?? 20_000
  return new Promise((resolve, reject) => {
    let lastError: unknown
    let stop = () => {}

    const timer = setTimeout(() => {
      stop()
      const what = options.what ?? 'the condition'
      reject(new Error(`Waited ${timeoutMs} ms without success for ${what}.\n${observed.describe()}`, { cause: lastError }))
    }, timeoutMs)

    const check = () => {
      try {
        const value = predicate()
        if (!value) return
        clearTimeout(timer)
        stop()
        resolve(value)
      } catch (error) {
        lastError = error
      }
    }

    stop = observed.subscribe(check)
    check()
  })
}
