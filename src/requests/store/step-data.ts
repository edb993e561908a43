import type { AuditNote } from '../../audit/entry.ts'
import type { ChangeKind } from '../../domain/policy/change-kind.ts'
import type { Request, RequestState } from '../../domain/request/request.ts'
import type { ItemState } from '../../domain/request/request-item.ts'
import type { ReportName } from '../steps/step.ts'
import type { ItemStepName, StepName } from '../steps.ts'

/** What a step carries besides its name. */
export interface StepData {
  set?: Partial<
    Pick<
      Request,
      | 'decision'
      | 'approvals'
      | 'missing'
      | 'reminded'
      | 'causes'
      | 'seen'
      | 'seenSignature'
      | 'lastSeen'
      | 'trackedUntil'
      | 'stoppedBy'
      | 'withdrawnBy'
      | 'items'
      | 'lateAt'
      | 'waits'
      | 'usualMs'
      | 'unanswered'
      | 'untrackedMs'
      | 'pauses'
    >
  >
  /** What the audit notes of the step, beyond the request itself. */
  audit?: Pick<
    AuditNote,
    'by' | 'rule' | 'via' | 'reason' | 'missing' | 'needed' | 'answer' | 'resourceId' | 'item' | 'resource' | 'facts' | 'causes'
  >
  /** The reports that the thread is owed, among those that the step may report. */
  reports?: readonly ReportName[]
  /** The latest time for the step, in ms since 1970 by Redis' clock. Set it if the step rests on a read that can become outdated. */
  notAfter?: number
  /** Takes the step only if no other request holds a resource of this one. */
  unlessHeld?: true
  /** Moves the deadline to this many ms from now. */
  extendMs?: number
  /** When the request is due again, in ms from now. Absent: never, unless the step keeps the due time. */
  dueInMs?: number
}

export interface StepResult {
  /**
   * `lost`: the state does not allow the step, or another request holds a resource. `changed`: the record changed since it was read. `expired`: the deadline has passed.
   * `outdated`: `notAfter` has passed. `missing`: there is no record.
   */
  outcome: 'won' | 'lost' | 'changed' | 'expired' | 'outdated' | 'missing'
  state: RequestState | undefined
}

/** A step that this process took, for the metrics and the log. */
export interface TakenStep {
  step: StepName | ItemStepName | 'request'
  requestId: string
  /** The id of the item whose step it is. */
  item?: string
  /** For a step of an item, the kind of the item. */
  kind: ChangeKind
  /** The kind of the request, if it is another one. */
  requestKind?: ChangeKind
  to: RequestState | ItemState
  /** From the last approval in ms, for a step with which a write is sent. */
  sinceApprovalMs?: number
  /** From the write to the end in ms, without the time that nobody tracked it, for a step that ends a change. */
  tookMs?: number
}
