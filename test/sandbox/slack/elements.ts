import { type Json, objectOf, objectsOf, stringOf, textOf } from './json.ts'
import type { Option } from './slack.ts'

export interface Placed {
  block: Json
  blockId: string
  element: Json
  type: string
  actionId: string
  /** The visible name: the text of a button, the label of an input, or else the placeholder. */
  label: string
}

function elementsIn(block: Json): Json[] {
  switch (block.type) {
    case 'actions':
      return objectsOf(block.elements)
    case 'section':
      return block.accessory ? [objectOf(block.accessory)] : []
    case 'input':
      return [objectOf(block.element)]
    default:
      return []
  }
}

export function elementsOf(blocks: Json[]): Placed[] {
  return blocks.flatMap((block) =>
    elementsIn(block).map((element) => ({
      block,
      blockId: stringOf(block.block_id),
      element,
      type: stringOf(element.type),
      actionId: stringOf(element.action_id),
      label: textOf(block.label) || textOf(element.text) || textOf(element.placeholder),
    })),
  )
}

/** Selects one of several elements with the same name. */
export interface Which {
  blockId?: string | undefined
  value?: string | undefined
}

/** Finds an element by action id, by its visible name, or by block id, in this order. */
export function findElement(blocks: Json[], name: string, which: Which = {}): Placed | undefined {
  const { blockId, value } = which
  const all = elementsOf(blocks).filter(
    (placed) => (blockId === undefined || placed.blockId === blockId) && (value === undefined || placed.element.value === value),
  )
  return (
    all.find((placed) => placed.actionId === name) ??
    all.find((placed) => placed.label === name) ??
    all.find((placed) => placed.blockId === name)
  )
}

/** The member of a state value that has the choice, and the member of the element that has the initial one. */
const held: Record<string, { member: string; initial: string; empty?: unknown }> = {
  plain_text_input: { member: 'value', initial: 'initial_value' },
  external_select: { member: 'selected_option', initial: 'initial_option' },
  static_select: { member: 'selected_option', initial: 'initial_option' },
  conversations_select: { member: 'selected_conversation', initial: 'initial_conversation' },
  radio_buttons: { member: 'selected_option', initial: 'initial_option' },
  checkboxes: { member: 'selected_options', initial: 'initial_options', empty: [] },
}

/** Returns the member with the choice: `selected_option`, `selected_conversation` or `value`. Undefined for buttons. */
export function choiceMember(type: string): string | undefined {
  return held[type]?.member
}

export type StateValues = Record<string, Record<string, Json>>

export function initialState(blocks: Json[]): StateValues {
  const values: StateValues = {}
  for (const { blockId, actionId, type, element } of elementsOf(blocks)) {
    const kept = held[type]
    if (kept) values[blockId] = { ...values[blockId], [actionId]: { type, [kept.member]: element[kept.initial] ?? kept.empty ?? null } }
  }
  return values
}

/** The members of an element that Slack repeats in an action. */
const repeated = ['text', 'value', 'style', 'confirm', 'placeholder', 'initial_option', 'initial_options']

/** Returns an entry of `actions` in a `block_actions` payload. `choice`: the value, as in a state value. */
export function actionOf(placed: Placed, choice: Json, actionTs: string): Json {
  const { element } = placed
  const own = Object.fromEntries(repeated.filter((name) => element[name] !== undefined).map((name) => [name, element[name]]))
  return { type: placed.type, action_id: placed.actionId, block_id: placed.blockId, ...own, ...choice, action_ts: actionTs }
}

/**
 * Returns the value of an element after `input` was chosen, as in a state value or an action: `{ selected_option: … }`. `found`: the
 * options that the bot returned for an external select, or the channels for a picker of conversations. Several checkboxes are named with commas
 * between them, and none with an empty text.
 */
export function choiceOf(placed: Placed, input: string | null, found: Option[] = []): Json {
  const member = choiceMember(placed.type)
  if (member === undefined) throw new Error(`Nothing can be chosen or typed in "${placed.label}" (${placed.type}).`)
  if (member === 'value' || input === null) return { [member]: input }
  const offered: Json[] = [...objectsOf(placed.element.options), ...found]
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
