import { StartError } from '../../domain/errors/errors.ts'

type Close = () => Promise<void>

/** Creates the list of what to close when the process stops. A stop can be requested at any time, even in the middle of the start. */
export function createShutdown() {
  const stop = new AbortController()
  const stopped = Promise.withResolvers<never>()
  // Without this handler, a stop while nothing is awaited would be an unhandled rejection.
  stopped.promise.catch(() => {})
  let closing: Close[] = []
  let closingLast: Close[] = []

  /** Throws once a stop was requested, so that nothing more is opened. */
  function throwIfStopping(): void {
    stop.signal.throwIfAborted()
  }

  /** Resolves with the result of `work`. Throws as soon as a stop is requested. */
  function unlessStopping<T>(work: Promise<T>): Promise<T> {
    return Promise.race([stopped.promise, work])
  }

  /** Registers `close` for the stop. If a stop was already requested, closes at once and throws. */
  async function closeOnStop(close: Close): Promise<void> {
    if (stop.signal.aborted) await close()
    throwIfStopping()
    closing.push(close)
  }

  /** Registers `close` to run after all others. If a stop was already requested, closes at once and throws. */
  async function closeLast(close: Close): Promise<void> {
    if (stop.signal.aborted) await close()
    throwIfStopping()
    closingLast.push(close)
  }

  /** Begins the stop. Returns what to close first, and what to close after that. From here on nothing more can be opened. */
  function begin(): { first: Close[]; last: Close[] } {
    stop.abort(new StartError('Stopped during the start.'))
    stopped.reject(stop.signal.reason)
    const steps = { first: closing, last: closingLast }
    closing = []
    closingLast = []
    return steps
  }

  return { signal: stop.signal, unlessStopping, closeOnStop, closeLast, begin }
}
export type Shutdown = ReturnType<typeof createShutdown>
