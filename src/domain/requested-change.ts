import type { Origin, Requester } from './approval.ts'
import type { Change } from './change.ts'
import type { MessageRef, SourceAlert } from './request.ts'

/** What a person, a machine or an alert asks for, before it is a request. */
export interface RequestedChange<Input = unknown, Facts = unknown> {
  change: Change<Input, Facts>
  input: Input
  origin: Origin
  /** What `gate` returned for the command. If absent, a form was sent, or an alert, and `submit` checks it. */
  requester?: Requester | undefined
  reason: string | undefined
  /** When it starts, as it was typed. Absent: as soon as it is approved. */
  start?: string | undefined
  /** The id of the request that the form was opened to undo. */
  undoes?: string | undefined
  /** The id of the ended request that the form was opened to repeat. */
  repeats?: string | undefined
  fromMessage?: MessageRef | undefined
  alert?: SourceAlert | undefined
  /** Mentions nobody until the first reminder. */
  isQuiet?: boolean | undefined
  /** A key of Redis without which the request is not recorded: what led to it has ended. */
  whileExists?: string | undefined
  /** The caller has another way if too few people could approve it: the audit then has no refusal. */
  mayLackApprovers?: true | undefined
  link?: string | undefined
  /** The same for every delivery of one command or form, so that it becomes one request. */
  deliveryKey: string
}
