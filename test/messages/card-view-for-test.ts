import { phrase } from '../../src/domain/text.ts'
import type { CardView } from '../../src/messages/request-content.ts'
import { description, requestFor, ruleFor } from '../given/request.ts'

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
    done: phrase`${'203.0.113.10'} is assigned to ${'web-2'}.`,
    rule: ruleFor(),
    environment: undefined,
    ...more,
  }
}
