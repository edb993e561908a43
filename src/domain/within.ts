export type Within<T> = { is: 'ready'; value: T } | { is: 'late'; work: Promise<T> }

/**
 * Waits for `work`, but no longer than `ms`. Then it answers `late`, with the promise to wait on. A failure in that time is thrown here; a
 * later one is the caller's to handle, through the promise.
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

/** The same with a value in place of a late answer. A late failure is dropped. */
export async function withinOr<T, Late>(ms: number, work: Promise<T>, late: Late): Promise<T | Late> {
  const answer = await within(ms, work)
  if (answer.is === 'ready') return answer.value
  answer.work.catch(() => {})
  return late
}

/** Waits until all of this has ended, whatever fails, but no longer than `ms`. */
export async function settleWithin(ms: number, works: Promise<unknown>[]): Promise<void> {
  await within(ms, Promise.allSettled(works))
}
