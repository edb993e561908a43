import type { Origin } from '../../../domain/approval/origin.ts'
import { type Request, resourcesOf } from '../../../domain/request/request.ts'
import type { Wake } from '../../../redis/queues.ts'
import { Refusal } from '../../../slack/errors.ts'
import type { Access } from '../../access/access.ts'
import { takenOver, tooLate } from '../../messages/refusals/refusals.ts'
import type { Store } from '../../store/store.ts'
import type { DecisionStep, OnTaken } from './decision-step.ts'

/** The most pauses that a record keeps. The audit has them all. */
const mostPauses = 20

interface StopTrackingParts {
  store: Store
  access: Access
  steps: DecisionStep
  wake: Wake
}

/**
 * Creates the steps that stop the tracking and start it again, for the requester and for approvers. A change that the account API accepted
 * cannot be canceled, so only its tracking can be stopped.
 */
export function createStopTracking({ store, access, steps, wake }: StopTrackingParts) {
  async function stopTracking(request: Request, origin: Origin, onTaken?: OnTaken): Promise<void> {
    const grant = await access.authorize(origin, { to: 'track', request })
    const audit = { by: origin.userId, ...grant }
    const data = { set: { stoppedBy: origin.userId }, audit }
    await steps.takeStep({ request, userId: origin.userId, name: 'stop-tracking', data, onTaken })
  }

  /** Refuses if a newer request for the same resource was made: only one request may track a resource. */
  async function trackAgain(request: Request, origin: Origin, onTaken?: OnTaken): Promise<void> {
    const grant = await access.authorize(origin, { to: 'track', request })
    if (request.state !== 'untracked') throw new Refusal(tooLate(request, origin.userId))
    if ((await Promise.all(resourcesOf(request).map((resource) => isTakenOver(request, resource)))).includes(true))
      throw new Refusal(takenOver)
    const { untrackedMs = 0, endedAt: stoppedAt = 0, stoppedBy, pauses } = request
    const resumedAt = await store.now()
    const pause = { ...(stoppedBy ? { stoppedBy } : {}), stoppedAt, resumedBy: origin.userId, resumedAt }
    const set = { untrackedMs: untrackedMs + resumedAt - stoppedAt, pauses: [...pauses, pause].slice(-mostPauses) }
    // Another request can have been made since the reads above.
    const data = { set, dueInMs: 0, unlessHeld: true as const, audit: { by: origin.userId, ...grant } }
    await steps.takeStep({ request, userId: origin.userId, name: 'track-again', data, wakeUp: () => wake(request), onTaken })
  }

  /** Whether a newer request for this resource was made, or holds it. */
  async function isTakenOver(request: Request, resource: string): Promise<boolean> {
    const holder = await store.holderOf(resource)
    return !(await store.isLatest({ ...request, resource })) || (holder !== undefined && holder !== request.id)
  }

  return { stopTracking, trackAgain }
}
