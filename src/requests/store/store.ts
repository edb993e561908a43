import type { Audit } from '../../audit/intake.ts'
import type { Redis } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { createScripts } from '../../redis/scripts.ts'
import { createDueTimes } from './due-times.ts'
import { createDurations } from './durations.ts'
import { createHeartbeats } from './heartbeats.ts'
import { createNewRequests } from './new-requests.ts'
import { createRecords } from './records.ts'
import type { NoteOf } from './request-note.ts'
import { createRetractionClaims } from './retraction-claims.ts'
import type { TakenStep } from './step-data.ts'
import { createTakeItem } from './take-item.ts'
import { createTakeStep } from './take-step.ts'

interface StoreParts {
  redis: Redis
  keys: Keys
  audit: Pick<Audit, 'noteWith'>
  /** Builds the audit note of an act on a request. */
  noteOf: NoteOf
  /** Receives every step that this process took. */
  onStep?: (step: TakenStep) => void
}

/** Creates the store of requests over one connection to Redis. Its functions throw StoreUnavailableError if Redis does not answer. */
export function createStore({ redis, keys, audit, noteOf, onStep = () => {} }: StoreParts) {
  const run = createScripts(redis)

  /** Reads Redis' clock in ms since 1970. All times of a record come from it. */
  async function now(): Promise<number> {
    const [ms] = await run('now', [keys.lastTick], [])
    return Number(ms)
  }

  const durations = createDurations({ redis, keys })
  const { take, compareAndSet } = createTakeStep({ redis, keys, audit, noteOf, durations, onStep })

  return {
    now,
    ...createRecords({ redis, keys }),
    ...createNewRequests({ redis, keys, audit, noteOf, onStep }),
    take,
    takeItem: createTakeItem({ compareAndSet, durations, onStep }),
    usualDuration: durations.usual,
    ...createDueTimes({ redis, keys }),
    ...createRetractionClaims({ redis, keys }),
    ...createHeartbeats({ redis, keys, now }),
  }
}
export type Store = ReturnType<typeof createStore>
