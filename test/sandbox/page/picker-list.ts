import { html, nothing, type TemplateResult } from 'lit-html'
import type { Option } from './block-shapes.ts'
import { icons } from './icons.ts'
import { plainWithEmoji } from './inline.ts'
import type { OptionSection } from './picker-options.ts'

/** The open list of a picker. */
export interface PickerList {
  /** The picker's. */
  id: string
  query: string
  /** False while the text in the field is still what was picked before. */
  typed: boolean
  status: 'too-short' | 'loading' | 'ready' | 'failed'
  sections: OptionSection[]
  error: string
  /** Index into the options of all sections; -1 is none. */
  active: number
}

export interface PickerListProps {
  multi: boolean
  selected: Option[]
  minQuery: number
  onPick(option: Option): void
  onRetry(): void
}

export function optionsOf(list: PickerList): Option[] {
  return list.sections.flatMap(({ options }) => options)
}

export function pickerList(list: PickerList, props: PickerListProps): TemplateResult {
  const options = list.status === 'failed' || list.status === 'too-short' ? [] : optionsOf(list)
  const row = (option: Option) => optionRow(option, options.indexOf(option), list, props)
  const sections = list.sections.map(({ heading, options }) =>
    heading === ''
      ? options.map(row)
      : html`<div role="group" aria-label=${heading}>
          <div class="option-heading" aria-hidden="true">${heading}</div>
          ${options.map(row)}
        </div>`,
  )
  // Pressing the mouse in the list must not take the focus from the field: losing it closes the list.
  return html`<div class="popup" data-popup-for=${`${list.id}-frame`} @mousedown=${(event: Event) => event.preventDefault()}>
    <div
      role="listbox"
      id=${`${list.id}-list`}
      aria-label="Options"
      aria-multiselectable=${props.multi ? 'true' : nothing}
      aria-busy=${list.status === 'loading'}
    >
      ${options.length > 0 ? sections : nothing}
    </div>
    ${message(list, props, options.length)}
  </div>`
}

function optionRow(option: Option, index: number, list: PickerList, props: PickerListProps): TemplateResult {
  const selected = props.selected.some(({ value }) => value === option.value)
  return html`<div
    class="option ${index === list.active ? 'is-active' : ''}"
    role="option"
    id=${`${list.id}-option-${index}`}
    aria-selected=${selected}
    @click=${() => props.onPick(option)}
  >
    <span class="option-text">${plainWithEmoji(option.text.text)}</span>
    ${option.description ? html`<span class="option-description">${plainWithEmoji(option.description.text)}</span>` : nothing}
    ${selected ? html`<span class="option-check">${icons.check}</span>` : nothing}
  </div>`
}

function message(list: PickerList, { minQuery, onRetry }: PickerListProps, count: number): TemplateResult | typeof nothing {
  switch (list.status) {
    case 'loading':
      return html`<div class="picker-message" role="status"><span class="spinner"></span>Searching…</div>`
    case 'too-short':
      return html`<div class="picker-message" role="status">Type at least ${minQuery} ${minQuery === 1 ? 'character' : 'characters'} to search.</div>`
    case 'failed':
      return html`<div class="picker-message is-failed" role="alert">
        <span>${list.error}</span>
        <button type="button" class="link-button" @click=${onRetry}>Try again</button>
      </div>`
    case 'ready': {
      if (count > 0) return nothing
      return html`<div class="picker-message" role="status">${list.query === '' ? 'There is nothing to pick.' : `No results for “${list.query}”.`}</div>`
    }
  }
}
