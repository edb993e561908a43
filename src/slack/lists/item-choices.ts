import type { KnownBlock, PlainTextOption } from '@slack/web-api'
import { actionsFor } from '../blocks/blocks.ts'
import { longestOptionValue, mostOption, option } from '../blocks/option.ts'
import { staticSelect } from '../blocks/selects.ts'
import { truncate } from '../text/cut-text.ts'

/** How people open the details of a list's items. Cells of a table cannot hold buttons, so the list has a picker below it. */
export interface ItemDetails<T> {
  /** The kind of the items, under which a feature registers the read of their details: `elastic-ip`. */
  of: string
  /** `Details of an Elastic IP` */
  placeholder: string
  idOf: (item: T) => string
  /** The item as people tell it from the others. The end of its id is added if another item has the same words. */
  nameOf: (item: T) => string
}

export interface ItemChoices {
  of: string
  placeholder: string
  /** One for each item, in the order of the rows. Undefined for an id that is too long for Slack: a cut one could be that of another item. */
  options: (PlainTextOption | undefined)[]
}

/** The longest words that the picker adds to a message, in characters, with this many options. */
export const choicesCharacters = (count: number) => 150 + 75 * count

export function choicesOf<T>(items: T[], { of, placeholder, idOf, nameOf }: ItemDetails<T>): ItemChoices {
  const names = items.map((item) => truncate(nameOf(item), mostOption, 'plain'))
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  const options = items.map((item, index) => {
    const [value, name = ''] = [idOf(item), names[index]]
    const text = counts.get(name) === 1 ? name : withEndOfId(nameOf(item), value)
    return value.length <= longestOptionValue ? option({ text, value }) : undefined
  })
  return { of, placeholder, options }
}

/** Cuts the name and not the id, because the id is what differs. */
function withEndOfId(name: string, id: string): string {
  const end = `, …${id.slice(-6)}`
  return `${truncate(name, mostOption - end.length, 'plain')}${end}`
}

/** The action id of the picker for items of this kind. */
export function detailsActionId(of: string): string {
  return `details:${of}`
}

/** Makes the picker for the items from `start` to `end`. Empty if none of them can be chosen. `name` is the name of the slash command. */
export function choicesBlocks(choices: ItemChoices | undefined, name: string, start = 0, end?: number): KnownBlock[] {
  const options = choices?.options.slice(start, end).filter((one) => one !== undefined) ?? []
  if (!choices || options.length === 0) return []
  return actionsFor(name, 'details', [staticSelect({ actionId: detailsActionId(choices.of), placeholder: choices.placeholder, options })])
}
