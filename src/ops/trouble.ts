import { isRefusal, UserError } from '../domain/errors.ts'
import { type Log, throttled } from './log.ts'
import type { Place } from './metrics.ts'

/** Hears of everything that goes wrong: each is counted, whether or not the log has a line for it. */
export function createTrouble({ log, count }: { log: Pick<Log, 'info' | 'warn' | 'error'>; count: (place: Place) => void }) {
  function reporting(place: Place, write: (error: unknown) => void) {
    return (error: unknown): void => {
      count(place)
      write(error)
    }
  }

  const writing = (place: Place) => (error: unknown) => log.error({ error }, place)

  return {
    /** With a line for each. */
    each: (place: Place) => reporting(place, writing(place)),
    /** With a line every few seconds, where one fault is met with at every attempt. */
    often: (place: Place) => reporting(place, throttled(writing(place))),
    /** What a person was told of. Being refused is nothing that went wrong. */
    told(error: unknown, context: { reference?: string; at: string }): void {
      if (!isRefusal(error)) count('people')
      if (error instanceof UserError) log.info({ ...context, error }, 'refused')
      else log.warn({ ...context, error }, 'a person was told of an error')
    },
  }
}
