import type { Handover } from '../../../domain/change/handover.ts'
import type { PolicyRule } from '../../../domain/policy/policy.ts'
import type { EndView } from './end-report.ts'

export type HandoverWords = Pick<Handover<unknown, unknown>, 'label'>

export interface ReportView extends EndView {
  /** An unexpected fact about the account at the write, which did not prevent it. */
  remark: string | undefined
  /** The words of a change whose result only the requester gets. */
  handover: HandoverWords | undefined
  /** The label of the button that undoes the change, if it can be undone. */
  reverseLabel: string | undefined
  /** The current rule of the policy for the request, if any. */
  rule: PolicyRule | undefined
  /** The longest time that the change should take, in words: `15 min`. */
  lateAfter: string
  /** In ms since 1970. */
  now: number
}
