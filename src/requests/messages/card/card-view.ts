import type { Description } from '../../../domain/change/description.ts'
import type { Words } from '../../../domain/change/finding.ts'
import type { PolicyRule } from '../../../domain/policy/policy.ts'
import type { Request } from '../../../domain/request/request.ts'
import type { Phrase } from '../../../domain/text/phrase.ts'
import type { Mrkdwn } from '../../../slack/text/text.ts'
import type { ItemView } from '../items/item-view.ts'
import type { LinkedRequest } from '../related.ts'

/** The content of a card. */
export interface CardView {
  request: Request
  description: Description
  /** What people call the resource. Undefined if it cannot be read. */
  subject?: string | undefined
  /** Each item of a change of several. Empty for a change of a single resource. */
  items: ItemView[]
  /** What the change leaves as it is although people may expect otherwise. */
  leaves?: Phrase | undefined
  /** The checks that got no answer, each as a phrase. */
  unchecked: Mrkdwn[]
  /** What approvers should check before they approve, each as one or two sentences. */
  checks: Mrkdwn[]
  /** Facts for the small print. */
  notes: Mrkdwn[]
  /** Why the request ended, and what to do next. */
  ending: Words
  /** False if another version of Lockkeeper wrote the request and this one cannot read its kind or state. The card then has no buttons. */
  isKnown: boolean
  /** The label of the requester's button, for a change whose result only the requester gets. */
  handoverLabel: string | undefined
  /** The sentence that a person must confirm after pressing that button. */
  handoverWarning?: string | undefined
  /** The label of the button that undoes the change, if it can be undone. */
  reverseLabel: string | undefined
  /** The request that this one undoes. */
  undoes: LinkedRequest | undefined
  /** The ended request that this one repeats. */
  repeats?: LinkedRequest | undefined
  /** The current rule of the policy for the request, if any. */
  rule: PolicyRule | undefined
  environment: string | undefined
  /** How long it takes until the last write of several is sent, in ms: all of them, or those that are left. */
  sendingMs?: number | undefined
  /** The address of the message that it was requested from, if the request message may link it. */
  fromMessage?: string | undefined
}
