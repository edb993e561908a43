import { choiceMember, type Placed } from './elements.ts'
import { type Json, objectsOf, textOf } from './json.ts'

/**
 * Returns the value of an element after `input` was chosen, as in a state value or an action: `{ selected_option: … }`. `found`: the
 * options that the bot returned for an external select, or the channels for a picker of conversations. Several checkboxes are named with commas
 * between them, and none with an empty text.
 */
export function choiceOf(placed: Placed, input: string | null, found: Json[] = []): Json {
  const member = choiceMember(placed.type)
  if (member === undefined) throw new Error(`Nothing can be chosen or typed in "${placed.label}" (${placed.type}).`)
  if (member === 'value' || input === null) return { [member]: input }
  const offered = [...objectsOf(placed.element.options), ...found]
  const named = (name: string) => offered.find(({ value, text }) => value === name || textOf(text) === name)
  if (member === 'selected_options') {
    const names = input.split(',').flatMap((name) => name.trim() || [])
    return { [member]: names.map((name) => named(name) ?? notOffered(name)) }
  }
  const option = named(input)
  if (option) return { [member]: member === 'selected_conversation' ? option.value : option }
  return notOffered(input)

  function notOffered(name: string): never {
    const there = offered.map(({ text }) => textOf(text)).join(', ')
    throw new Error(`"${placed.label}" offers no "${name}"; there is: ${there || 'nothing'}.`)
  }
}
