import { setTimeout as pause } from 'node:timers/promises'
import { AwayError } from '../domain/errors.ts'

const usualFirstPauseMs = 1_000

interface Patience {
  /** Ends the waiting at once; its reason is thrown. */
  signal: AbortSignal
  longestPauseMs: number
  firstPauseMs?: number
  /** Called after every attempt that found nobody. */
  onAway: (error: AwayError, nextTryInMs: number) => void
}

/** Repeats `attempt` with pauses that double as long as it throws AwayError. Throws everything else. */
export async function retryWhileAway<T>(
  attempt: () => Promise<T>,
  { signal, longestPauseMs, firstPauseMs = usualFirstPauseMs, onAway }: Patience,
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
