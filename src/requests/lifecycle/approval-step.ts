import type { Change } from '../../domain/change.ts'
import type { Decision, Request } from '../../domain/request.ts'
import type { StepData } from '../store/take-step.ts'

/**
 * Builds the data of a step that approves a request. A change that a worker executes is due at once. A change that is handed over waits for
 * its requester, for as long as the rule gives for an approval.
 */
export function approvalData(change: Change, request: Request, decision: Decision): StepData {
  const { breakGlass: _, ...audit } = decision
  const data: StepData = { set: { decision }, audit }
  const dueInMs = wakeInMs(change, request)
  return change.handover ? { ...data, extendMs: request.ttlMs, dueInMs } : { ...data, dueInMs }
}

/** Returns when a worker has to reconcile an approved request, in ms from now. */
export function wakeInMs({ handover }: Change, { ttlMs }: Request): number {
  return handover ? ttlMs : 0
}
