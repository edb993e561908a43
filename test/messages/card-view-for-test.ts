import type { CardView } from '../../src/messages/request-message.ts'
import { description, requestFor, ruleFor } from '../requests/request-for-test.ts'

/** What the card of Ada's request is made from. */
export function cardViewFor(more: Partial<CardView> = {}): CardView {
  return {
    request: requestFor(),
    isKnown: true,
    description,
    items: [],
    unchecked: [],
    checks: [],
    notes: [],
    ending: { why: '' },
    handoverLabel: undefined,
    undoes: undefined,
    reverseLabel: undefined,
    rule: ruleFor(),
    environment: undefined,
    ...more,
  }
}
