type Within<T> = { is: 'ready'; value: T } | { is: 'late'; work: Promise<T> }

/**
 * Waits at most `ms` milliseconds for `work`. After that it returns `late` with the promise, so that the caller can go on waiting. Throws a
 * failure within this time; the caller handles a later failure with the promise.
 */
export async function within<T>(ms: number, work: Promise<T>): Promise<Within<T>> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Within<T>>((resolve) => {
    timer = setTimeout(() => resolve({ is: 'late', work }), ms)
  })
  try {
    return await Promise.race([work.then((value): Within<T> => ({ is: 'ready', value })), late])
  } finally {
    clearTimeout(timer)
  }
}

/** Waits as `within` does, and returns `late` in place of a late result. Ignores a late failure. */
export async function withinOr<T, Late>(ms: number, work: Promise<T>, late: Late): Promise<T | Late> {
  const answer = await within(ms, work)
  if (answer.is === 'ready') return answer.value
  answer.work.catch(() => {})
  return late
}

export async function settleWithin(ms: number, works: Promise<unknown>[]): Promise<void> {
  await within(ms, Promise.allSettled(works))
}

/** Waits for `work` until the signal aborts. Then it throws the signal's reason, and ignores what becomes of the work. */
export async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  work.catch(() => {})
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
