export interface Watched {
  /** Called after every change; returns how to stop it. */
  subscribe: (listener: () => void) => () => void
  /** What has happened so far, for the message of a wait that was in vain. */
  describe: () => string
}

/** Resolves with the first truthy value of `predicate`, looked at now and after every change. A throw means "not yet". */
export function until<T>(
  watched: Watched,
  predicate: () => T,
  options: { timeoutMs?: number; what?: string } = {},
): Promise<NonNullable<T>> {
  const timeoutMs = options.timeoutMs ?? 5000
  return new Promise((resolve, reject) => {
    let lastError: unknown
    let stop = () => {}

    const timer = setTimeout(() => {
      stop()
      const what = options.what ?? 'the condition'
      reject(new Error(`Waited ${timeoutMs} ms in vain for ${what}.\n${watched.describe()}`, { cause: lastError }))
    }, timeoutMs)

    const look = () => {
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

    stop = watched.subscribe(look)
    look()
  })
}
