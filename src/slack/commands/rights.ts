import type { Origin } from '../../domain/approval/origin.ts'
import type { Requester } from '../../domain/approval/people.ts'
import type { ChangeKind } from '../../domain/policy/change-kind.ts'
import type { Need } from './commands.ts'

/** Throws a Refusal if the person may not request this kind of change. The right to read was already checked when the command arrived. */
export type Gate = (origin: Origin, kind: ChangeKind) => Promise<Requester>

/** Throws a Refusal if a request of this kind could not be made or posted in the channel of the origin. */
export type GateForm = (origin: Origin, kind: ChangeKind) => Promise<unknown>

/** Returns the name of the rule that requires a reason for this kind of change in this channel. Undefined if none certainly does. */
export type RuleWithReason = (kind: ChangeKind, channelId: string) => string | undefined

/** Returns those of the needs for which the person has the right. */
export type May = (origin: Origin, needs: Need[]) => Promise<Need[]>
