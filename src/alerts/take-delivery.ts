import { inLane } from '../domain/account/lane.ts'
import { StoreUnavailableError } from '../domain/errors/errors.ts'
import type { Stormy } from './firing/firing.ts'
import type { TakeFiring } from './firing/take-firing.ts'
import type { ListStorm } from './list-storm.ts'
import type { NoteResolved } from './note-resolved.ts'
import { placeText } from './notice-place.ts'
import { type AlertCounts, TryLater } from './outcome.ts'
import type { Alert } from './payload/payload.ts'
import type { Explained, TakeResolved } from './take-resolved.ts'

interface TakeDeliveryParts {
  takeFiring: TakeFiring
  takeResolved: TakeResolved
  listStorm: ListStorm
  noteResolved: NoteResolved
  counts: AlertCounts
  /** Receives errors of the account API, and defects. */
  onError: (error: unknown) => void
}

/**
 * Creates the function that handles the alerts of one delivery. It returns `later` if the sender has to repeat the delivery; the alerts
 * that were already handled are duplicates then.
 */
export function createTakeDelivery({ takeFiring, takeResolved, listStorm, noteResolved, counts, onError }: TakeDeliveryParts) {
  return async function takeDelivery(alerts: Alert[], signal: AbortSignal): Promise<'accepted' | 'later'> {
    let delayed = 0

    /** Runs the work for one alert, and notes if it has to be done later. Without Redis no other alert can be handled either. */
    async function attempt(work: () => Promise<void>): Promise<void> {
      try {
        signal.throwIfAborted()
        // People wait for what an alert leads to.
        await inLane('person', work)
      } catch (error) {
        delayed += 1
        counts.alert('delayed')
        if (!signal.aborted && !(error instanceof TryLater)) onError(error)
        if (error instanceof StoreUnavailableError) throw error
      }
    }

    const stormy: Stormy[] = []
    const explained: Explained[] = []
    counts.alert('received', alerts.length)
    // One after another, so that in a storm the first alerts get the requests.
    for (const alert of alerts.filter(({ isFiring }) => isFiring)) {
      await attempt(async () => {
        const taken = await takeFiring(alert, signal)
        if (taken.is === 'storm') return void stormy.push(taken.stormy)
        counts.alert(taken.is)
        if (taken.is === 'refused') counts.refused(taken.reason)
      })
    }
    for (const [channelId, some] of Map.groupBy(stormy, (each) => each.channelId)) {
      await attempt(async () => {
        const isListed = await listStorm(channelId, some, signal)
        counts.alert('refused', some.length)
        counts.refused(isListed ? 'storm' : 'not-posted', some.length)
      })
    }
    // Firing alerts come first: one of them may keep the request of an alert that resolves at the same moment.
    for (const alert of alerts.filter(({ isFiring }) => !isFiring)) {
      await attempt(async () => {
        const taken = await takeResolved(alert, signal)
        if (taken.is === 'explained') return void explained.push(taken.explained)
        counts.alert(taken.is === 'resolved' ? 'resolved' : 'unmatched')
      })
    }
    for (const some of Map.groupBy(explained, ({ notice }) => placeText(notice)).values()) {
      await attempt(async () => {
        await noteResolved(some)
        counts.alert('resolved', some.length)
      })
    }
    return delayed > 0 ? 'later' : 'accepted'
  }
}
export type TakeDelivery = ReturnType<typeof createTakeDelivery>
