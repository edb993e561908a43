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

const notInteractive = new Set(['image', 'plain_text', 'mrkdwn'])

function elementsIn(block: Json): Json[] {
  switch (block.type) {
    case 'actions':
    case 'context_actions':
      return objectsOf(block.elements)
    case 'section':
      return block.accessory ? [objectOf(block.accessory)] : []
    case 'input':
      return [objectOf(block.element)]
    case 'card':
      return objectsOf(block.actions)
    default:
      return []
  }
}

/** Blocks within containers and carousels included. */
function flattened(blocks: Json[]): Json[] {
  return blocks.flatMap((block) => {
    const inner = block.type === 'container' ? block.child_blocks : block.type === 'carousel' ? block.elements : []
    return [block, ...flattened(objectsOf(inner))]
  })
}

export function elementsOf(blocks: Json[]): Placed[] {
  return flattened(blocks).flatMap((block) =>
    elementsIn(block)
      .filter((element) => !notInteractive.has(stringOf(element.type)))
      .map((element) => ({
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

/** The members of a state value that hold what was chosen, with the member of the element that gives its start. */
const held: Record<string, { member: string; initial: string; many?: boolean }> = {
  plain_text_input: { member: 'value', initial: 'initial_value' },
  number_input: { member: 'value', initial: 'initial_value' },
  email_text_input: { member: 'value', initial: 'initial_value' },
  url_text_input: { member: 'value', initial: 'initial_value' },
  rich_text_input: { member: 'rich_text_value', initial: 'initial_value' },
  static_select: { member: 'selected_option', initial: 'initial_option' },
  external_select: { member: 'selected_option', initial: 'initial_option' },
  radio_buttons: { member: 'selected_option', initial: 'initial_option' },
  users_select: { member: 'selected_user', initial: 'initial_user' },
  conversations_select: { member: 'selected_conversation', initial: 'initial_conversation' },
  channels_select: { member: 'selected_channel', initial: 'initial_channel' },
  datepicker: { member: 'selected_date', initial: 'initial_date' },
  timepicker: { member: 'selected_time', initial: 'initial_time' },
  datetimepicker: { member: 'selected_date_time', initial: 'initial_date_time' },
  checkboxes: { member: 'selected_options', initial: 'initial_options', many: true },
  multi_static_select: { member: 'selected_options', initial: 'initial_options', many: true },
  multi_external_select: { member: 'selected_options', initial: 'initial_options', many: true },
  multi_users_select: { member: 'selected_users', initial: 'initial_users', many: true },
  multi_conversations_select: { member: 'selected_conversations', initial: 'initial_conversations', many: true },
  multi_channels_select: { member: 'selected_channels', initial: 'initial_channels', many: true },
  file_input: { member: 'files', initial: '', many: true },
}

/** Where the choice of such an element is kept: `selected_option`, `value` … Undefined for buttons and overflow menus, which keep nothing. */
export function choiceMember(type: string): { member: string; many: boolean } | undefined {
  const found = held[type]
  return found && { member: found.member, many: found.many ?? false }
}

export type StateValues = Record<string, Record<string, Json>>

/** `state.values` of blocks before anybody touched them. */
export function initialState(blocks: Json[]): StateValues {
  const values: StateValues = {}
  for (const placed of elementsOf(blocks)) {
    const kept = held[placed.type]
    if (kept === undefined) continue
    const start = placed.element[kept.initial] ?? (kept.many ? [] : null)
    values[placed.blockId] = { ...values[placed.blockId], [placed.actionId]: { type: placed.type, [kept.member]: start } }
  }
  return values
}

const told = [
  'text',
  'value',
  'url',
  'style',
  'confirm',
  'placeholder',
  'initial_option',
  'initial_options',
  'initial_user',
  'initial_date',
]

/** An entry of `actions` in a `block_actions` payload. `choice` is what was chosen, as in a state value. */
export function actionOf(placed: Placed, choice: Json, actionTs: string): Json {
  const { element } = placed
  const own = Object.fromEntries(told.filter((name) => element[name] !== undefined).map((name) => [name, element[name]]))
  return { type: placed.type, action_id: placed.actionId, block_id: placed.blockId, ...own, ...choice, action_ts: actionTs }
}
