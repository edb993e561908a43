import { EventEmitter } from 'node:events'

/**
 * Starts the time limit of a whole call with all its attempts. The deadline also ends when the caller's signal is aborted. Call `end`
 * afterwards; otherwise its timer keeps running. `signal` is an EventEmitter, which undici accepts in place of an AbortSignal: creating an
 * AbortSignal for each call takes a tenth of the time that reading a page takes.
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
    /** Returns why the deadline ended, or undefined while it has not. */
    problem: () => problem,
    /** Resolves with true after `waitMs`. Resolves with false at once if the wait would outlast the deadline or when the caller aborts. */
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
