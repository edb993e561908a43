import { choiceMember, type Placed } from './elements.ts'
import { type Json, objectsOf, textOf } from './json.ts'

/**
 * Returns the value of an element after `input` was chosen, as in a state value or an action: `{ selected_option: … }`. `found`: the
 * options that the bot returned for an external select, or the channels for a picker of conversations.
 */
export function choiceOf(placed: Placed, input: string | null, found: Json[] = []): Json {
  const member = choiceMember(placed.type)
  if (member === undefined) throw new Error(`Nothing can be chosen or typed in "${placed.label}" (${placed.type}).`)
  if (member === 'value' || input === null) return { [member]: input }
  const offered = [...objectsOf(placed.element.options), ...found]
  const option = offered.find(({ value, text }) => value === input || textOf(text) === input)
  if (option) return { [member]: member === 'selected_conversation' ? option.value : option }
  const there = offered.map(({ text }) => textOf(text)).join(', ')
  throw new Error(`"${placed.label}" offers no "${input}"; there is: ${there || 'nothing'}.`)
}
