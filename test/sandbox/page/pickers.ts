import { html, nothing, type TemplateResult } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import type { Option } from './block-shapes.ts'
import { icons } from './icons.ts'
import { plainWithEmoji } from './inline.ts'
import { optionsOf, type PickerList, pickerList } from './picker-list.ts'
import { filterSections, type OptionSection, type OptionSource, sectionsOf } from './picker-options.ts'

export interface PickerProps {
  /** Unique in the document. */
  id: string
  /** The name for screen readers where no `<label for>` gives it. */
  label?: string | undefined
  placeholder: string
  selected: Option[]
  multi: boolean
  /** Of a multi select: how many may be picked. */
  max: number
  source: OptionSource
  busy: boolean
  invalid: boolean
  describedBy?: string | undefined
  autofocus: boolean
  onPick(options: Option[]): void
}

/** Waiting for the next letter before the bot is asked. */
const debounceMs = 200

/** Selects as comboboxes with a search; at most one list is open at a time. */
export function createPickers({ update }: { update(): void }) {
  let open: PickerList | undefined
  let asking: ReturnType<typeof setTimeout> | undefined

  function close() {
    clearTimeout(asking)
    open = undefined
    update()
  }

  function show(props: PickerProps, query: string, typed: boolean) {
    clearTimeout(asking)
    const sections = open?.id === props.id ? open.sections : []
    const list: PickerList = { id: props.id, query, typed, status: 'loading', sections, error: '', active: -1 }
    open = list
    if (props.source.kind === 'given') ready(list, filterSections(props.source.sections, query), props)
    else if (query.length < props.source.minQuery) list.status = 'too-short'
    else asking = setTimeout(() => void ask(props, list), typed ? debounceMs : 0)
    update()
  }

  async function ask(props: PickerProps, list: PickerList) {
    if (props.source.kind !== 'asked') return
    const answer = await props.source.ask(list.query)
    // The list has been closed or asked again while the answer was on its way.
    if (open !== list) return
    const trouble = answer.ok ? answer.notice : answer.error
    if (trouble) Object.assign(list, { status: 'failed', error: trouble, sections: [] })
    else if (answer.ok) ready(list, sectionsOf(answer), props)
    update()
  }

  function ready(list: PickerList, sections: OptionSection[], { selected }: PickerProps) {
    const values = sections.flatMap(({ options }) => options.map(({ value }) => value))
    const current = values.indexOf(selected[0]?.value ?? '')
    Object.assign(list, { status: 'ready', sections, active: list.query === '' ? current : Math.min(0, values.length - 1) })
  }

  function pick(props: PickerProps, option: Option) {
    if (!props.multi) {
      close()
      return props.onPick([option])
    }
    const others = props.selected.filter(({ value }) => value !== option.value)
    const added = others.length === props.selected.length
    if (added && others.length >= props.max) return
    props.onPick(added ? [...others, option] : others)
    show(props, '', true)
  }

  function move(props: PickerProps, list: PickerList | undefined, step: 1 | -1) {
    if (!list) return show(props, '', false)
    const count = optionsOf(list).length
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
        // Never submits the form: a person who searches is not done yet.
        event.preventDefault()
        if (!list) return show(props, '', false)
        const active = list.status === 'ready' ? optionsOf(list)[list.active] : undefined
        return active && pick(props, active)
      }
      case 'Escape':
        if (!list) return
        // Closes the list and not the dialog around it.
        event.preventDefault()
        event.stopPropagation()
        return close()
      case 'Backspace':
        if (props.multi && (list?.query ?? '') === '') props.onPick(props.selected.slice(0, -1))
    }
  }

  function render(props: PickerProps): TemplateResult {
    const list = open?.id === props.id ? open : undefined
    const [only] = props.multi ? [] : props.selected
    const shown = list?.typed ? list.query : plainWithEmoji(only?.text.text ?? '')
    return html`<div class="picker ${props.invalid ? 'is-invalid' : ''} ${list ? 'is-open' : ''}" id=${`${props.id}-frame`}>
        ${props.multi ? props.selected.map((option) => chip(props, option)) : nothing}
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
          placeholder=${props.multi && props.selected.length > 0 ? '' : props.placeholder}
          ?data-autofocus=${props.autofocus}
          ?disabled=${props.busy}
          .value=${live(shown)}
          @focus=${(event: FocusEvent) => (event.target as HTMLInputElement).select()}
          @click=${() => list ?? show(props, '', false)}
          @input=${(event: InputEvent) => show(props, (event.target as HTMLInputElement).value, true)}
          @keydown=${(event: KeyboardEvent) => onKeydown(event, props)}
          @blur=${() => list && close()}
        />
        ${
          only && !list
            ? html`<button type="button" class="picker-clear" aria-label="Clear selection" @click=${() => props.onPick([])}>${icons.close}</button>`
            : nothing
        }
        <span class="picker-arrow">${icons.down}</span>
      </div>
      ${list ? listOf(props, list) : nothing}`
  }

  function listOf(props: PickerProps, list: PickerList): TemplateResult {
    return pickerList(list, {
      multi: props.multi,
      selected: props.selected,
      minQuery: props.source.kind === 'asked' ? props.source.minQuery : 0,
      onPick: (option) => pick(props, option),
      onRetry: () => show(props, list.query, list.typed),
    })
  }

  return { render, close }
}

function chip(props: PickerProps, option: Option): TemplateResult {
  const without = props.selected.filter(({ value }) => value !== option.value)
  return html`<span class="chip">
    ${plainWithEmoji(option.text.text)}
    <button type="button" aria-label=${`Remove ${option.text.text}`} @click=${() => props.onPick(without)}>${icons.close}</button>
  </span>`
}

export type Pickers = ReturnType<typeof createPickers>
