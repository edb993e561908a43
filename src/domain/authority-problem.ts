import type { Finding } from './finding.ts'

/** Why a write must not be sent. `unknown-key`: nobody can say now whether it is genuine, so the request does not end. */
export type AuthorityProblem = Finding & {
  code:
    | 'record-changed'
    | 'unknown-key'
    | 'approvals-not-genuine'
    | 'approved-too-long-ago'
    | 'already-sent'
    | 'approval-needed-now'
    | 'rule-gone'
}
