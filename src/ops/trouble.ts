import { isRefusal, UserError } from '../domain/errors.ts'
import { type Log, throttled } from './log.ts'
import type { Place } from './metrics.ts'

/** Something that Slack sent and no listener took. All of it are words of ours or of Slack's documentation. */
interface Untaken {
  kind: string
  why: 'unheard' | 'unreadable' | 'unanswered'
  members?: string[]
}

/** A type of payload comes from outside: no more kinds than these are told apart, so that nothing grows without end. */
const mostKinds = 200

/** Hears of everything that goes wrong: each is counted, whether or not the log has a line for it. */
export function createTrouble({ log, count }: { log: Pick<Log, 'info' | 'warn' | 'error'>; count: (place: Place) => void }) {
  function reporting(place: Place, write: (error: unknown) => void) {
    return (error: unknown): void => {
      count(place)
      write(error)
    }
  }

  const writing = (place: Place) => (error: unknown) => log.error({ error }, place)
  const noted = new Set<string>()

  return {
    /** With a line for each. */
    each: (place: Place) => reporting(place, writing(place)),
    /** With a line every few seconds, where one fault is met with at every attempt. */
    often: (place: Place) => reporting(place, throttled(writing(place))),
    /** What arrived and was acknowledged without anybody having taken it, with one line for each kind. What nothing listens to is no error. */
    untaken({ kind, why, members }: Untaken): void {
      if (why !== 'unheard') count('slack')
      const key = [kind, why, ...(members ?? [])].join()
      if (noted.has(key) || noted.size >= mostKinds) return
      noted.add(key)
      log.warn({ kind, ...(members ? { members } : {}) }, untakenWords[why])
    },
    /** What a person was told of. Being refused is nothing that went wrong. */
    told(error: unknown, context: { reference?: string; at: string }): void {
      if (!isRefusal(error)) count('people')
      if (error instanceof UserError) log.info({ ...context, error }, 'refused')
      else log.warn({ ...context, error }, 'a person was told of an error')
    },
  }
}

const untakenWords = {
  unheard: 'Acknowledged a Slack payload that Lockkeeper does not handle. More of this kind are not logged.',
  unreadable: 'Acknowledged a Slack payload that could not be read. The person is told where possible. More like it are not logged.',
  unanswered: 'A listener failed before it acknowledged a Slack payload. More of this kind are not logged.',
} as const
