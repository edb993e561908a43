import type { Origin } from '../../domain/origin.ts'
import type { Request } from '../../domain/request.ts'
import type { Wake } from '../../redis/queues.ts'
import { Refusal } from '../../slack/errors.ts'
import type { Access } from '../access/access.ts'
import { takenOver, tooLate } from '../messages/refusals.ts'
import type { Store } from '../store/store.ts'
import type { DecisionStep } from './decision-step.ts'

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
  async function stopTracking(request: Request, origin: Origin): Promise<void> {
    const grant = await access.authorize(origin, { to: 'track', request })
    const audit = { by: origin.userId, ...grant }
    await steps.takeStep({ request, userId: origin.userId, name: 'stop-tracking', data: { set: { stoppedBy: origin.userId }, audit } })
  }

  /** Refuses if a newer request for the same resource was made: only one request may track a resource. */
  async function trackAgain(request: Request, origin: Origin): Promise<void> {
    const grant = await access.authorize(origin, { to: 'track', request })
    if (request.state !== 'untracked') throw new Refusal(tooLate(request, origin.userId))
    const holder = await store.holderOf(request.resource)
    if (!(await store.isLatest(request)) || (holder !== undefined && holder !== request.id)) throw new Refusal(takenOver)
    const untrackedMs = (request.untrackedMs ?? 0) + (await store.now()) - (request.endedAt ?? 0)
    const data = { set: { untrackedMs }, dueInMs: 0, audit: { by: origin.userId, ...grant } }
    await steps.takeStep({ request, userId: origin.userId, name: 'track-again', data, wakeUp: () => wake(request) })
  }

  return { stopTracking, trackAgain }
}
