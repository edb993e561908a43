import { setTimeout as pause } from 'node:timers/promises'
import { AwayError, StartError } from '../domain/errors.ts'

const defaultFirstPauseMs = 1_000

interface RetryOptions {
  signal: AbortSignal
  longestPauseMs: number
  firstPauseMs?: number
  onAway: (error: AwayError, nextTryInMs: number) => void
}

/**
 * Repeats `attempt` while it throws AwayError. The pauses double up to `longestPauseMs`, and are at least as long as the error requests.
 * Throws all other errors.
 */
export async function retryWhileAway<T>(
  attempt: () => Promise<T>,
  { signal, longestPauseMs, firstPauseMs = defaultFirstPauseMs, onAway }: RetryOptions,
): Promise<T> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    signal.throwIfAborted()
    try {
      return await attempt()
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof AwayError)) throw error
      const nextTryInMs = Math.max(pauseMs, error.retryInMs ?? 0)
      onAway(error, nextTryInMs)
      await pause(nextTryInMs, undefined, { signal }).catch(() => signal.throwIfAborted())
    }
  }
}

type Close = () => Promise<void>

/** Creates the list of what to close when the process stops. A stop can be requested at any time, even in the middle of the start. */
export function createShutdown() {
  const stop = new AbortController()
  const stopped = Promise.withResolvers<never>()
  // Without this handler, a stop while nothing is awaited would be an unhandled rejection.
  stopped.promise.catch(() => {})
  let steps: { first: Close[]; last: Close[] } = { first: [], last: [] }

  /** Resolves with the result of `work`. Throws as soon as a stop is requested. */
  function unlessStopping<T>(work: Promise<T>): Promise<T> {
    return Promise.race([stopped.promise, work])
  }

  /** Registers `close` for the stop, to run with the others or after them. If a stop was already requested, closes at once and throws. */
  async function closeOnStop(close: Close, when: 'first' | 'last' = 'first'): Promise<void> {
    if (stop.signal.aborted) await close()
    stop.signal.throwIfAborted()
    steps[when].push(close)
  }

  /** Begins the stop. Returns what to close. From here on nothing more can be opened. */
  function begin(): { first: Close[]; last: Close[] } {
    stop.abort(new StartError('Stopped during the start.'))
    stopped.reject(stop.signal.reason)
    const begun = steps
    steps = { first: [], last: [] }
    return begun
  }

  return { signal: stop.signal, unlessStopping, closeOnStop, begin }
}
export type Shutdown = ReturnType<typeof createShutdown>
