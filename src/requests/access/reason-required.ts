import { Refusal } from '../../slack/errors.ts'
import { mrkdwn } from '../../slack/text/text.ts'
import { reasonRequired } from '../messages/forms/reason-field.ts'

/** What a form shows of a change that was typed: its input, and what the preflight check read. */
export interface Draft {
  input: unknown
  facts: unknown
}

/** A reason is missing. Nothing is recorded; the requester is asked for it in a form. */
export class ReasonRequired extends Refusal {
  override name = 'ReasonRequired'
  /** The rule that requires it. Undefined if the command ended with *because*. */
  readonly rule: string | undefined
  readonly draft: Draft

  constructor(rule: string | undefined, draft: Draft) {
    super(rule === undefined ? mrkdwn`The reason after *because* is missing.` : reasonRequired(rule))
    this.rule = rule
    this.draft = draft
  }
}
