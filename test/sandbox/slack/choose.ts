import { choiceMember, type Placed } from './elements.ts'
import { type Json, textOf } from './json.ts'
import { offeredOptions } from './schema.ts'
import type { Input } from './slack.ts'

function optionFor(placed: Placed, wanted: string, offered: Json[]): Json {
  const found = offered.find((option) => option.value === wanted || textOf(option.text) === wanted)
  if (found) return found
  const there = offered.map((option) => textOf(option.text)).join(', ')
  throw new Error(`"${placed.label}" offers no "${wanted}"; there is: ${there || 'nothing'}.`)
}

/**
 * What an element holds once `input` was chosen, as the member of a state value or an action: `{ selected_option: … }`.
 * `offered` are the options of an external select.
 */
export function choiceOf(placed: Placed, input: Input, offered: Json[] = []): Json {
  const options = [...offeredOptions(placed.element), ...offered]
  if (placed.type === 'overflow') return { selected_option: optionFor(placed, String(input), options) }
  const kept = choiceMember(placed.type)
  if (kept === undefined) throw new Error(`Nothing can be chosen or typed in "${placed.label}" (${placed.type}).`)
  const { member } = kept
  if (input === null) return { [member]: kept.many ? [] : null }
  if (member === 'selected_options') return { [member]: [input].flat().map((one) => optionFor(placed, String(one), options)) }
  if (kept.many) return { [member]: [input].flat().map(String) }
  if (member === 'selected_option') return { [member]: optionFor(placed, String(input), options) }
  if (member === 'selected_date_time') return { [member]: Number(input) }
  if (member === 'rich_text_value') return { [member]: richText(String(input)) }
  return { [member]: String(input) }
}

function richText(text: string): Json {
  return { type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text }] }] }
}
