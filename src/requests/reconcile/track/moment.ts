import type { Moment } from '../../../domain/change/observation.ts'
import type { Underway } from '../../../domain/request/request.ts'
import type { Timings } from '../../../domain/timings.ts'

/** Returns the phase in which a change is observed, and the time since its write. `now` is in ms since 1970. */
export function momentOf({ state, sentAt, createdAt }: Underway, now: number, { graceMs }: Timings): Moment {
  const phase = state === 'tracking' ? 'accepted' : state === 'starting' ? 'sent' : 'ended'
  const sinceSentMs = now - (sentAt ?? createdAt)
  return { phase, sinceSentMs, early: sinceSentMs < graceMs }
}
