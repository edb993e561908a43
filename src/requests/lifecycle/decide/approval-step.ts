import type { Change } from '../../../domain/change/change.ts'
import type { Decision, Request } from '../../../domain/request/request.ts'
import { firstReminderAt } from '../../store/new-requests.ts'
import type { StepData } from '../../store/step-data.ts'

/**
 * Builds the data of a step that approves a request. A change that a worker executes is due at once. A change that is handed over waits for
 * its requester, for as long as the rule gives for an approval. The thread calls the requester, because an update of the card notifies nobody.
 */
export function approvalData(change: Change, request: Request, decision: Decision): StepData {
  const { breakGlass: _, at: __, signature: ___, allOf: ____, ...audit } = decision
  const data: StepData = { set: { decision }, audit, dueInMs: wakeInMs(change, request) }
  if (!change.handover) return data
  return { ...data, set: { decision, reminded: 0 }, extendMs: request.ttlMs, reports: ['approved'] }
}

/** Returns when a worker has to reconcile an approved request, in ms from now. A requester who has to act is reminded first. */
export function wakeInMs({ handover }: Change, { ttlMs }: Request): number {
  return handover ? Math.floor(ttlMs * firstReminderAt) : 0
}
