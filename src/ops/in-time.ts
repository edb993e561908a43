/** Does all of this at once, whatever fails, and goes on after so many ms with what has not ended by then. */
export async function inTime(ms: number, works: Promise<unknown>[]): Promise<void> {
  const deadline = Promise.withResolvers<void>()
  const timer = setTimeout(deadline.resolve, ms)
  await Promise.race([Promise.allSettled(works), deadline.promise])
  clearTimeout(timer)
}
