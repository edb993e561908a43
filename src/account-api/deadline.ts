import { EventEmitter } from 'node:events'

/**
 * One limit for a whole call with all its tries, joined with the caller's own wish to stop. End it, or its timer lives on.
 * Its signal is an emitter, which undici takes as well: an AbortSignal for each call would cost a tenth of reading a page.
 */
export function startDeadline(ms: number, caller: AbortSignal | undefined) {
  const signal = new EventEmitter()
  const endsAt = performance.now() + ms
  let problem: string | undefined

  function stop(why: string) {
    problem ??= why
    signal.emit('abort')
  }
  const cancel = () => stop('cancelled by the caller')
  const timer = setTimeout(() => stop(`not finished within ${ms} ms`), ms)
  if (caller?.aborted) cancel()
  else caller?.addEventListener('abort', cancel, { once: true })

  return {
    signal,
    /** Why it is over; undefined while it is not. */
    problem: () => problem,
    /** True after the wait; false at once when the wait would outlast the deadline, or as soon as the caller stops. */
    wait(waitMs: number): Promise<boolean> {
      if (problem !== undefined || performance.now() + waitMs >= endsAt) return Promise.resolve(false)
      return new Promise((resolve) => {
        const end = (waited: boolean) => {
          clearTimeout(waiting)
          signal.off('abort', giveUp)
          resolve(waited)
        }
        const giveUp = () => end(false)
        const waiting = setTimeout(() => end(true), waitMs)
        signal.once('abort', giveUp)
      })
    },
    end() {
      clearTimeout(timer)
      caller?.removeEventListener('abort', cancel)
    },
  }
}
export type Deadline = ReturnType<typeof startDeadline>
