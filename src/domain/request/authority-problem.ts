import type { Finding } from '../change/finding.ts'
import type { Verdict } from '../signing/keyring.ts'

/** Why a write must not be sent. `unknown-key`: this process cannot verify the request, so the request does not end. */
export type AuthorityProblem = Finding & {
  code:
    | 'record-changed'
    | 'unknown-key'
    | 'approvals-not-genuine'
    | 'approved-too-long-ago'
    | 'already-sent'
    | 'already-ended'
    | 'approval-needed-now'
    | 'rule-gone'
}

/** The reason why the audit, or the end of a tracking, says nothing of what a record contains. */
export const unverifiedRecord = { code: 'record-unverified' } as const satisfies Finding

/** Returns what is wrong with a request whose signatures have these verdicts. */
export function problemOf(...verdicts: Verdict[]): AuthorityProblem | undefined {
  if (verdicts.includes('unknown-key')) return { code: 'unknown-key' }
  return verdicts.every((verdict) => verdict === 'genuine') ? undefined : { code: 'record-changed' }
}
