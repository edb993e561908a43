import type { Origin } from '../../../domain/approval/origin.ts'
import type { Requester } from '../../../domain/approval/people.ts'
import type { Change } from '../../../domain/change/change.ts'
import type { MessageRef } from '../../../domain/request/message-ref.ts'
import type { SourceAlert } from '../../../domain/request/request.ts'

/** A change that a command, a form or an alert requests, before it is checked. */
export interface RequestedChange<Input, Facts> {
  change: Change<Input, Facts>
  input: Input
  origin: Origin
  /** What `access.gate` returned for the command. If absent, a form was sent, or an alert, and `submit` checks it. */
  requester?: Requester | undefined
  reason: string | undefined
  /** The id of the request that the form was opened to undo. */
  undoes?: string | undefined
  /** The id of the ended request that the form was opened to repeat. */
  repeats?: string | undefined
  /** The message that the change is requested from. */
  fromMessage?: MessageRef | undefined
  /** The alert that requests the change. */
  alert?: SourceAlert | undefined
  /** The same for every delivery of one command or form, so that it becomes one request. */
  deliveryKey: string
}
