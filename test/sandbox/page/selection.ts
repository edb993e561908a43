import type { Element, ElementState, Option } from './block-shapes.ts'

/** Lists that Slack's own client knows: people and channels, as options. */
export interface Directory {
  users: Option[]
  channels: Option[]
}

type IdKind = 'user' | 'channel' | 'conversation'

export function isSelect(element: Element): boolean {
  return /^(multi_)?(static|external|users|channels|conversations)_select$/.test(element.type)
}

export function isMulti(element: Element): boolean {
  return element.type.startsWith('multi_')
}

/** What a select of people or channels holds is ids; the others hold whole options. */
function idKind(element: Element): IdKind | undefined {
  const [, kind] = /(user|channel|conversation)s_select$/.exec(element.type) ?? []
  return kind as IdKind | undefined
}

export function directoryOptions(element: Element, directory: Directory): Option[] | undefined {
  const kind = idKind(element)
  return kind && (kind === 'user' ? directory.users : directory.channels)
}

/** The state of an element that nobody has touched yet. */
export function initialState(element: Element): ElementState {
  const { type } = element
  if (isSelect(element)) return initialSelection(element)
  switch (type) {
    case 'checkboxes':
      return { type, selected_options: element.initial_options ?? [] }
    case 'radio_buttons':
      return { type, selected_option: element.initial_option ?? null }
    case 'datepicker':
      return { type, selected_date: element.initial_date ?? null }
    case 'timepicker':
      return { type, selected_time: element.initial_time ?? null }
    default:
      return { type, value: element.initial_value ?? null }
  }
}

function initialSelection(element: Element): ElementState {
  const { type } = element
  const kind = idKind(element)
  if (kind) {
    return isMulti(element)
      ? { type, [`selected_${kind}s`]: element[`initial_${kind}s`] ?? [] }
      : { type, [`selected_${kind}`]: element[`initial_${kind}`] ?? null }
  }
  return isMulti(element)
    ? { type, selected_options: element.initial_options ?? [] }
    : { type, selected_option: element.initial_option ?? null }
}

export function stateOfSelection(element: Element, options: Option[]): ElementState {
  const { type } = element
  const kind = idKind(element)
  if (kind) {
    const ids = options.map(({ value }) => value)
    return isMulti(element) ? { type, [`selected_${kind}s`]: ids } : { type, [`selected_${kind}`]: ids[0] ?? null }
  }
  return isMulti(element) ? { type, selected_options: options } : { type, selected_option: options[0] ?? null }
}

export function selectedOptions(element: Element, state: ElementState, directory: Directory): Option[] {
  const kind = idKind(element)
  if (!kind) return state.selected_options ?? (state.selected_option ? [state.selected_option] : [])
  const ids = state[`selected_${kind}s`] ?? [state[`selected_${kind}`]]
  return (directoryOptions(element, directory) ?? []).filter(({ value }) => ids.includes(value))
}

export function isEmpty(state: ElementState): boolean {
  const held = Object.entries(state).filter(([key]) => key !== 'type')
  return held.every(([, value]) => value === null || value === undefined || (Array.isArray(value) ? value.length === 0 : value === ''))
}
