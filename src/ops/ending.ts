import { StartError } from '../domain/errors.ts'

type Close = () => Promise<void>

/** What was opened and has to be closed. The end can be requested at any moment, also in the middle of the start. */
export function createEnding() {
  const end = new AbortController()
  const ended = Promise.withResolvers<never>()
  // Nobody may be waiting when the end comes.
  ended.promise.catch(() => {})
  let closing: Close[] = []
  let closingLast: Close[] = []

  /** Throws once the end was requested: nothing more is opened then. */
  function goOn(): void {
    end.signal.throwIfAborted()
  }

  /** Resolves with the result of `work`. Throws as soon as the end is requested. */
  function unlessEnding<T>(work: Promise<T>): Promise<T> {
    return Promise.race([ended.promise, work])
  }

  /** Leaves closing to the end. Where the end was requested meanwhile, closes at once and throws. */
  async function closes(close: Close): Promise<void> {
    if (end.signal.aborted) await close()
    goOn()
    closing.push(close)
  }

  /** The same for what is closed after everything else. */
  async function closesLast(close: Close): Promise<void> {
    if (end.signal.aborted) await close()
    goOn()
    closingLast.push(close)
  }

  /** Gives what has to be closed, and what after that. Nothing is opened from here on. */
  function begin(): { first: Close[]; last: Close[] } {
    end.abort(new StartError('The end was requested during the start.'))
    ended.reject(end.signal.reason)
    const steps = { first: closing, last: closingLast }
    closing = []
    closingLast = []
    return steps
  }

  return { signal: end.signal, goOn, unlessEnding, closes, closesLast, begin }
}
