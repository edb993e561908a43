import type { ChangeKind } from '../../domain/change-kind.ts'
import type { Origin } from '../../domain/origin.ts'
import type { Requester } from '../../domain/people.ts'
import type { Need } from './commands.ts'

/** Throws a Refusal if the person may not request this kind of change. That they may read was seen when the command arrived. */
export type Gate = (origin: Origin, kind: ChangeKind) => Promise<Requester>

/** Returns those of the needs for which the person has the right. */
export type May = (origin: Origin, needs: Need[]) => Promise<Need[]>
