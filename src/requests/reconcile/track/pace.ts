import { isOpen, type Underway } from '../../../domain/request/request.ts'
import type { Store } from '../../store/store.ts'

/** Creates the pace at which requests are observed: often while they are expected to end, and seldom once they are late or reported as ended. */
export function createPace({ store, pollIntervalMs }: { store: Pick<Store, 'postpone'>; pollIntervalMs: number }) {
  /** Returns the time until the next observation in ms. 0 makes a request due at every tick and at every look between two ticks. */
  function paceMs(request: Underway): number {
    if (request.state === 'starting') return Math.min(pollIntervalMs, 5_000)
    if (!isOpen(request.state)) return pollIntervalMs * 3
    return request.lateAt === undefined ? 0 : pollIntervalMs * 6
  }

  /** Postpones requests to their next observation, with one command for each pace. */
  async function postpone(requests: Underway[]): Promise<void> {
    for (const [inMs, group] of Map.groupBy(requests, paceMs)) {
      await store.postpone(
        group.map(({ id }) => id),
        inMs,
      )
    }
  }

  return { paceMs, postpone }
}
export type Pace = ReturnType<typeof createPace>
