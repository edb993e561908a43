import { setTimeout as sleep } from 'node:timers/promises'

/** One limit for a whole call with all its tries, joined with the caller's own wish to stop. End it, or its timer lives on. */
export function startDeadline(ms: number, caller: AbortSignal | undefined) {
  const controller = new AbortController()
  const endsAt = performance.now() + ms
  let problem = 'no time left'

  function stop(why: string) {
    problem = why
    controller.abort()
  }
  const cancel = () => stop('cancelled by the caller')
  const timer = setTimeout(() => stop(`not finished within ${ms} ms`), ms)
  if (caller?.aborted) cancel()
  else caller?.addEventListener('abort', cancel, { once: true })

  return {
    signal: controller.signal,
    /** Why it ended, once the signal is aborted. */
    problem: () => problem,
    /** True after the wait; false at once when the wait would outlast the deadline, or as soon as the caller stops. */
    async wait(waitMs: number): Promise<boolean> {
      if (performance.now() + waitMs >= endsAt) return false
      return sleep(waitMs, true, { signal: controller.signal }).catch(() => false)
    },
    end() {
      clearTimeout(timer)
      caller?.removeEventListener('abort', cancel)
    },
  }
}
export type Deadline = ReturnType<typeof startDeadline>
