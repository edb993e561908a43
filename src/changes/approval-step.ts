import type { Change } from '../domain/change.ts'
import type { Decision } from '../domain/request.ts'
import type { Transition } from './store.ts'

/**
 * The step that approves a request. What is carried out by a worker is due at once; what is handed over waits for its requester, for
 * as long as an approval may take.
 */
export function approvalStep(change: Change, decision: Decision, handoverTtlMs: number): Transition {
  const step = { name: 'approve', from: ['waiting' as const], to: 'approved' as const, set: { decision }, stamp: ['decidedAt' as const] }
  return change.handover ? { ...step, extendMs: handoverTtlMs, dueInMs: handoverTtlMs } : { ...step, dueInMs: 0 }
}
