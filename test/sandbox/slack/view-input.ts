import { choiceMember, elementsOf, type Placed } from './elements.ts'
import { isYes, objectsOf, stringOf } from './json.ts'
import type { StoredView } from './view-store.ts'

const longestText = 3000

function problemWith({ block, element, type }: Placed, value: unknown): string | undefined {
  const isEmpty = value === null || value === undefined || (typeof value === 'string' && value.trim() === '')
  if (isEmpty) return isYes(block.optional) ? undefined : 'Please complete this required field.'
  const longest = Number(element.max_length ?? longestText)
  if (type === 'plain_text_input' && stringOf(value).length > longest) return `Please enter no more than ${longest} characters.`
  return undefined
}

/** Returns what Slack's own client reports by block id, before it sends a submission to the bot. */
export function inputProblems(view: StoredView): Record<string, string> {
  const problems: Record<string, string> = {}
  for (const placed of elementsOf(objectsOf(view.given.blocks))) {
    const member = choiceMember(placed.type)
    if (placed.block.type !== 'input' || member === undefined) continue
    const problem = problemWith(placed, view.values[placed.blockId]?.[placed.actionId]?.[member])
    if (problem !== undefined) problems[placed.blockId] = problem
  }
  return problems
}
