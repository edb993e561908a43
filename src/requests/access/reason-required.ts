import { Refusal } from '../../slack/errors.ts'
import { reasonRequired } from '../messages/reason-field.ts'

/** What a form shows of a change that was typed: its input, and what the preflight check read. */
export interface Draft {
  input: unknown
  facts: unknown
}

/** The rule of a change requires a reason, and the request has none. Nothing is recorded; the requester is asked for it in a form. */
export class ReasonRequired extends Refusal {
  override name = 'ReasonRequired'
  readonly rule: string
  readonly draft: Draft

  constructor(rule: string, draft: Draft) {
    super(reasonRequired(rule))
    this.rule = rule
    this.draft = draft
  }
}
