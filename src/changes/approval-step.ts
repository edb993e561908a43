import type { Change } from '../domain/change.ts'
import type { Decision, Request } from '../domain/request.ts'
import type { Transition } from './store.ts'

/**
 * The step that approves a request. What is carried out by a worker is due at once; what is handed over waits for its requester, for
 * as long as an approval may take.
 */
export function approvalStep(change: Change, request: Request, decision: Decision): Transition {
  const { by, rule, reason } = decision
  const audit = { ...(by ? { by } : {}), ...(rule ? { rule } : {}), ...(reason ? { reason } : {}) }
  const step = {
    name: 'approve',
    from: ['waiting' as const],
    to: 'approved' as const,
    set: { decision },
    stamp: ['decidedAt' as const],
    audit,
  }
  return change.handover ? { ...step, extendMs: request.ttlMs, dueInMs: request.ttlMs } : { ...step, dueInMs: 0 }
}
