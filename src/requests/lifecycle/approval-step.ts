import type { Change } from '../../domain/change.ts'
import type { Decision, Request } from '../../domain/request.ts'
import type { StepData } from '../store/store.ts'

/**
 * What the step that approves a request carries. A change that a worker carries out is due at once. One that is handed over waits for its
 * requester, for as long as an approval may take.
 */
export function approvalData(change: Change, request: Request, decision: Decision): StepData {
  const { breakGlass: _, ...audit } = decision
  const data: StepData = { set: { decision }, audit }
  return change.handover ? { ...data, extendMs: request.ttlMs, dueInMs: request.ttlMs } : { ...data, dueInMs: 0 }
}
