import { setTimeout as pause } from 'node:timers/promises'
import { AwayError } from '../../domain/errors/errors.ts'

const defaultFirstPauseMs = 1_000

interface RetryOptions {
  /** Ends the retries at once. Its reason is thrown. */
  signal: AbortSignal
  longestPauseMs: number
  firstPauseMs?: number
  /** Called after every attempt that threw AwayError. */
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
