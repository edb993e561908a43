import { choiceMember, elementsOf, type Placed } from './elements.ts'
import { isYes, type Json, objectsOf, stringOf } from './json.ts'
import type { StoredView } from './view-store.ts'

function isEmpty(value: unknown): boolean {
  return (
    value === null ||
    value === undefined ||
    (typeof value === 'string' && value.trim() === '') ||
    (Array.isArray(value) && value.length === 0)
  )
}

function problemWith(placed: Placed, value: unknown): string | undefined {
  if (isEmpty(value)) return isYes(placed.block.optional) ? undefined : 'Please complete this required field.'
  const { element, type } = placed
  const text = stringOf(value)
  if (type === 'plain_text_input' && typeof element.min_length === 'number' && text.length < element.min_length) {
    return `Please enter at least ${element.min_length} characters.`
  }
  if (type === 'plain_text_input' && text.length > (typeof element.max_length === 'number' ? element.max_length : 3000)) {
    return `Please enter no more than ${String(element.max_length ?? 3000)} characters.`
  }
  if (type === 'number_input' && !/^-?\d+(\.\d+)?$/.test(text)) return 'Please enter a number.'
  if (type === 'email_text_input' && !/^\S+@\S+\.\S+$/.test(text)) return 'Please enter a valid email address.'
  if (type === 'url_text_input' && !URL.canParse(text)) return 'Please enter a valid URL.'
  return undefined
}

/** What Slack's own client says, by block id, before it sends a submission to the bot at all. */
export function inputProblems(view: StoredView): Record<string, string> {
  const problems: Record<string, string> = {}
  for (const placed of elementsOf(objectsOf(view.given.blocks))) {
    const kept = choiceMember(placed.type)
    if (placed.block.type !== 'input' || kept === undefined) continue
    const value = (view.values[placed.blockId]?.[placed.actionId] as Json | undefined)?.[kept.member]
    const problem = problemWith(placed, value)
    if (problem !== undefined) problems[placed.blockId] = problem
  }
  return problems
}
