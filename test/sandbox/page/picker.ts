import { html, nothing, type TemplateResult } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import { api } from './api.ts'
import type { Field } from './elements.ts'
import { isBusy } from './forms.ts'
import { iconButton, icons } from './icons.ts'
import { page, update } from './page.ts'
import type { Element, ElementState, Option, Surface } from './shapes.ts'
import { plainWithEmoji } from './text.ts'

interface PickerProps {
  element: Element
  state: ElementState
  field: Field
  blockId: string
  surface: Surface
  onPick(option: Option | undefined): void
}

/** The open list of a picker. There is at most one. */
interface OpenList {
  id: string
  query: string
  /** False while the field still shows the earlier choice. */
  isTyped: boolean
  options: Option[]
  /** Shown above the options. */
  label?: string
  /** Shown instead of options, such as `Searching…`. */
  message?: string
  /** Index of the active option. -1: none. */
  active: number
}

/** The pause after a letter before the bot is asked for options. */
const debounceMs = 200

let open: OpenList | undefined
let pending: ReturnType<typeof setTimeout> | undefined

export function closePicker() {
  clearTimeout(pending)
  open = undefined
  update()
}

export function settlePicker() {
  const list = document.querySelector<HTMLElement>('.picker-list:not(:popover-open)')
  list?.showPopover({ source: list.previousElementSibling as HTMLElement })
}

function search(props: PickerProps, query: string, isTyped: boolean) {
  clearTimeout(pending)
  const { field, element } = props
  const least = element.min_query_length ?? 3
  const list: OpenList = { id: field.id, query, isTyped, options: open?.id === field.id ? open.options : [], active: -1 }
  open = list
  if (query.length < least) {
    Object.assign(list, { options: [], message: `Type at least ${least} ${least === 1 ? 'character' : 'characters'} to search.` })
  } else {
    if (list.options.length === 0) list.message = 'Searching…'
    pending = setTimeout(() => void load(props, list), isTyped ? debounceMs : 0)
  }
  update()
}

async function load({ element, blockId, surface, state }: PickerProps, list: OpenList) {
  const answer = await api.options(page.me.id, surface, { blockId, actionId: element.action_id ?? '' }, list.query)
  // The list was closed or reloaded before the answer came.
  if (open !== list) return
  const trouble = answer.ok ? answer.notice : answer.error
  const { options = [], label } = answer.ok ? answer : {}
  if (trouble) Object.assign(list, { options: [], message: trouble })
  else {
    const none = list.query === '' ? 'There is nothing to pick.' : `No results for “${list.query}”.`
    const current = options.findIndex(({ value }) => value === state.selected_option?.value)
    const active = list.query === '' ? current : 0
    Object.assign(list, { options, label, active, message: options.length === 0 ? none : undefined })
  }
  update()
}

function onKeydown(event: KeyboardEvent, props: PickerProps) {
  const list = open?.id === props.field.id ? open : undefined
  const count = list?.options.length ?? 0
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    if (!list) search(props, '', false)
    else if (event.key === 'ArrowDown') list.active = (list.active + 1) % count
    else list.active = list.active > 0 ? list.active - 1 : count - 1
    update()
  } else if (event.key === 'Enter') {
    const active = list?.options[list.active]
    if (!list) search(props, '', false)
    else if (active) pick(props, active)
  } else if (event.key === 'Escape' && list) {
    // Closes the list and not the dialog around it.
    event.stopPropagation()
    closePicker()
  } else return
  // Enter must not submit the form during a search.
  event.preventDefault()
}

function pick({ onPick }: PickerProps, option: Option) {
  closePicker()
  onPick(option)
}

/** Renders an external select as a combobox with a search. */
export function picker(props: PickerProps): TemplateResult {
  const { element, field, surface, blockId, onPick } = props
  const { selected_option: selected } = props.state
  const list = open?.id === field.id ? open : undefined
  const shown = list?.isTyped ? list.query : plainWithEmoji(selected?.text.text ?? '')
  return html`<div class="picker">
    <input class="field" id=${field.id} role="combobox" autocomplete="off" spellcheck="false" aria-label=${field.label ?? nothing}
      aria-autocomplete="list" aria-expanded=${list !== undefined} aria-controls=${list ? `${field.id}-list` : nothing}
      aria-activedescendant=${list && list.active >= 0 ? `${field.id}-${list.active}` : nothing} aria-invalid=${field.isInvalid}
      aria-describedby=${field.describedBy ?? nothing} placeholder=${element.placeholder?.text ?? 'Select an option'}
      ?disabled=${isBusy(surface, blockId, element)} .value=${live(shown)}
      @focus=${(event: FocusEvent) => (event.target as HTMLInputElement).select()}
      @click=${() => list ?? search(props, '', false)}
      @input=${(event: InputEvent) => search(props, (event.target as HTMLInputElement).value, true)}
      @keydown=${(event: KeyboardEvent) => onKeydown(event, props)}
      @blur=${() => list && closePicker()} />
    ${list ? renderList(list, props) : nothing}
    ${selected && !list ? iconButton('Clear selection', icons.close, () => onPick(undefined)) : nothing}
  </div>`
}

function renderList(list: OpenList, props: PickerProps): TemplateResult {
  const selected = props.state.selected_option?.value
  // A press of the mouse in the list must not take the focus from the field, because that closes the list.
  return html`<div class="picker-list popup" popover="manual" @mousedown=${(event: Event) => event.preventDefault()}>
    ${list.label ? html`<div class="small">${plainWithEmoji(list.label)}</div>` : nothing}
    <div role="listbox" id=${`${list.id}-list`} aria-label="Options">
      ${list.options.map(
        (option, index) => html`<div class="option ${index === list.active ? 'is-active' : ''}" role="option" id=${`${list.id}-${index}`}
          aria-selected=${option.value === selected} @click=${() => pick(props, option)}>
          ${plainWithEmoji(option.text.text)}
          ${option.description ? html`<div class="small">${plainWithEmoji(option.description.text)}</div>` : nothing}
        </div>`,
      )}
    </div>
    ${list.message ? html`<div class="small" role="status">${list.message}</div>` : nothing}
  </div>`
}
