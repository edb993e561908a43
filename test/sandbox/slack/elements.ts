import { type Json, objectOf, objectsOf, stringOf, textOf } from './json.ts'

/** Something interactive and the block it stands in. */
export interface Placed {
  block: Json
  blockId: string
  element: Json
  type: string
  actionId: string
  /** The words by which a person knows it: the text on a button, the label of an input, else the placeholder. */
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

/** Which of several elements with the same name. */
export interface Which {
  blockId?: string | undefined
  /** Of a button. */
  value?: string | undefined
}

/** Looks for an element by action id, by the words on it, or by block id, in this order. */
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

/** The member of a state value that holds what was entered or chosen, and the member of the element that gives its start. */
const held: Record<string, { member: string; initial: string }> = {
  plain_text_input: { member: 'value', initial: 'initial_value' },
  external_select: { member: 'selected_option', initial: 'initial_option' },
  radio_buttons: { member: 'selected_option', initial: 'initial_option' },
}

/** Where such an element keeps what was chosen: `selected_option` or `value`. Undefined for buttons, which keep nothing. */
export function choiceMember(type: string): string | undefined {
  return held[type]?.member
}

export type StateValues = Record<string, Record<string, Json>>

/** `state.values` of blocks before anybody touched them. */
export function initialState(blocks: Json[]): StateValues {
  const values: StateValues = {}
  for (const { blockId, actionId, type, element } of elementsOf(blocks)) {
    const kept = held[type]
    if (kept) values[blockId] = { ...values[blockId], [actionId]: { type, [kept.member]: element[kept.initial] ?? null } }
  }
  return values
}

/** What Slack repeats of an element in the action that it sends. */
const repeated = ['text', 'value', 'style', 'confirm', 'placeholder', 'initial_option']

/** An entry of `actions` in a `block_actions` payload. `choice` is what was chosen, as in a state value. */
export function actionOf(placed: Placed, choice: Json, actionTs: string): Json {
  const { element } = placed
  const own = Object.fromEntries(repeated.filter((name) => element[name] !== undefined).map((name) => [name, element[name]]))
  return { type: placed.type, action_id: placed.actionId, block_id: placed.blockId, ...own, ...choice, action_ts: actionTs }
}
