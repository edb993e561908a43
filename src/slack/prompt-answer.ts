/** People are answered within 3 s. When the work takes longer, they are told so in time. */
export const interimAfterMs = 2_000

/**
 * Waits for `work` as long as an answer can wait. Gives its result, or `late` with the promise to wait on.
 * A failure in time is thrown here, one that comes late by the promise.
 */
export async function inTime<T>(
  work: Promise<T>,
  withinMs: number = interimAfterMs,
): Promise<{ is: 'ready'; value: T } | { is: 'late'; work: Promise<T> }> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<{ is: 'late'; work: Promise<T> }>((resolve) => {
    timer = setTimeout(() => resolve({ is: 'late', work }), withinMs)
  })
  try {
    return await Promise.race([work.then((value) => ({ is: 'ready' as const, value })), late])
  } finally {
    clearTimeout(timer)
  }
}
