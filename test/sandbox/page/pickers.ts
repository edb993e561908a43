import { html, nothing, type TemplateResult } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import type { Answer, FoundOptions } from './api.ts'
import type { Option } from './block-shapes.ts'
import { icons } from './icons.ts'
import { plainWithEmoji } from './inline.ts'
import { type PickerList, pickerList } from './picker-list.ts'

export interface PickerProps {
  /** Unique in the document. */
  id: string
  /** The name for screen readers if there is no `<label for>`. */
  label?: string | undefined
  placeholder: string
  selected: Option | undefined
  minQuery: number
  search(query: string): Promise<Answer<FoundOptions>>
  busy: boolean
  invalid: boolean
  describedBy?: string | undefined
  onPick(option: Option | undefined): void
}

/** The pause after a letter before the bot is asked for options. */
const debounceMs = 200

/** Renders external selects as comboboxes with a search. At most one list is open at a time. */
export function createPickers({ update }: { update(): void }) {
  let open: PickerList | undefined
  let pending: ReturnType<typeof setTimeout> | undefined

  function close() {
    clearTimeout(pending)
    open = undefined
    update()
  }

  function show(props: PickerProps, query: string, typed: boolean) {
    clearTimeout(pending)
    const options = open?.id === props.id ? open.options : []
    const list: PickerList = { id: props.id, query, typed, status: 'loading', options, error: '', active: -1 }
    open = list
    if (query.length < props.minQuery) list.status = 'too-short'
    else pending = setTimeout(() => void load(props, list), typed ? debounceMs : 0)
    update()
  }

  async function load(props: PickerProps, list: PickerList) {
    const answer = await props.search(list.query)
    // The list was closed or reloaded before the answer came.
    if (open !== list) return
    const trouble = answer.ok ? answer.notice : answer.error
    if (trouble) Object.assign(list, { status: 'failed', error: trouble, options: [] })
    else if (answer.ok) ready(list, answer, props)
    update()
  }

  function ready(list: PickerList, { options = [], label }: FoundOptions, { selected }: PickerProps) {
    const current = options.findIndex(({ value }) => value === selected?.value)
    Object.assign(list, { status: 'ready', options, label, active: list.query === '' ? current : Math.min(0, options.length - 1) })
  }

  function pick(props: PickerProps, option: Option) {
    close()
    props.onPick(option)
  }

  function move(props: PickerProps, list: PickerList | undefined, step: 1 | -1) {
    if (!list) return show(props, '', false)
    const count = list.options.length
    if (count === 0) return
    list.active = list.active < 0 ? (step === 1 ? 0 : count - 1) : (list.active + step + count) % count
    update()
  }

  function onKeydown(event: KeyboardEvent, props: PickerProps) {
    const list = open?.id === props.id ? open : undefined
    switch (event.key) {
      case 'ArrowDown':
      case 'ArrowUp':
        event.preventDefault()
        return move(props, list, event.key === 'ArrowDown' ? 1 : -1)
      case 'Enter': {
        // Enter must not submit the form during a search.
        event.preventDefault()
        if (!list) return show(props, '', false)
        const active = list.status === 'ready' ? list.options[list.active] : undefined
        return active && pick(props, active)
      }
      case 'Escape':
        if (!list) return
        // Closes the list and not the dialog around it.
        event.preventDefault()
        event.stopPropagation()
        return close()
    }
  }

  function render(props: PickerProps): TemplateResult {
    const list = open?.id === props.id ? open : undefined
    const shown = list?.typed ? list.query : plainWithEmoji(props.selected?.text.text ?? '')
    return html`<div class="picker ${props.invalid ? 'is-invalid' : ''} ${list ? 'is-open' : ''}" id=${`${props.id}-frame`}>
        <input
          id=${props.id}
          type="text"
          role="combobox"
          autocomplete="off"
          spellcheck="false"
          aria-label=${props.label ?? nothing}
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-expanded=${list ? 'true' : 'false'}
          aria-controls=${list ? `${props.id}-list` : nothing}
          aria-activedescendant=${list && list.active >= 0 ? `${props.id}-option-${list.active}` : nothing}
          aria-invalid=${props.invalid ? 'true' : nothing}
          aria-describedby=${props.describedBy ?? nothing}
          placeholder=${props.placeholder}
          ?disabled=${props.busy}
          .value=${live(shown)}
          @focus=${(event: FocusEvent) => (event.target as HTMLInputElement).select()}
          @click=${() => list ?? show(props, '', false)}
          @input=${(event: InputEvent) => show(props, (event.target as HTMLInputElement).value, true)}
          @keydown=${(event: KeyboardEvent) => onKeydown(event, props)}
          @blur=${() => list && close()}
        />
        ${
          props.selected && !list
            ? html`<button type="button" class="picker-clear" aria-label="Clear selection" @click=${() => props.onPick(undefined)}>${icons.close}</button>`
            : nothing
        }
        <span class="picker-arrow">${icons.down}</span>
      </div>
      ${list ? listOf(props, list) : nothing}`
  }

  function listOf(props: PickerProps, list: PickerList): TemplateResult {
    return pickerList(list, {
      selected: props.selected,
      minQuery: props.minQuery,
      onPick: (option) => pick(props, option),
      onRetry: () => show(props, list.query, list.typed),
    })
  }

  return { render, close }
}

export type Pickers = ReturnType<typeof createPickers>
