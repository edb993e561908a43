import type { AuditNote } from '../../audit/entry.ts'
import type { Denial } from '../../domain/approval/denial.ts'
import type { Origin } from '../../domain/approval/origin.ts'
import type { Request } from '../../domain/request/request.ts'
import { Refusal } from '../../slack/errors.ts'
import { denialWords, type LabelOf } from '../messages/refusals/denials.ts'
import type { NoteOf } from '../store/request-note.ts'

/** What a person tried: an intent, or the id of a button. */
interface Attempt {
  to: string
  /** The id of the button, if several buttons need the same right. */
  button?: string
  /** The command, click, submission or option load. */
  what?: string
  kind?: string
  request?: Request | undefined
}

interface RefuseParts {
  /** Notes a refusal in the audit. Never throws. */
  noteRefusal: (note: AuditNote) => Promise<void>
  noteOf: NoteOf
  labelOf: LabelOf
}

/** A refusal because of a right. */
export class Denied extends Refusal {
  readonly denial: Denial

  constructor(denial: Denial, labelOf: LabelOf, command: string) {
    super(denialWords(denial, labelOf, command))
    this.denial = denial
  }
}

/** Creates the function that notes a denial in the audit and returns the Refusal for the person. */
export function createRefuse({ noteRefusal, noteOf, labelOf }: RefuseParts) {
  async function refuse(origin: Origin, attempt: Attempt, denial: Denial): Promise<Refusal> {
    await noteRefusal(noteFor(origin, attempt, { by: origin.userId, attempted: attempt.button ?? attempt.to, causes: [denial] }))
    return new Denied(denial, labelOf, origin.command)
  }

  function noteFor({ channelId, teamId }: Origin, { request, kind, what }: Attempt, more: Partial<AuditNote>): AuditNote {
    return request ? noteOf(request, 'refused', more) : { act: 'refused', kind, text: what, channelId, teamId, ...more }
  }

  return refuse
}
export type Refuse = ReturnType<typeof createRefuse>
