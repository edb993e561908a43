import { html, nothing, type TemplateResult } from 'lit-html'
import type { Option } from './block-shapes.ts'
import { icons } from './icons.ts'
import { plainWithEmoji } from './inline.ts'
import { unbrokenWords } from './unbroken-words.ts'

/** The open list of a picker. */
export interface PickerList {
  /** The id of the picker. */
  id: string
  query: string
  /** False while the field still shows the earlier choice. */
  typed: boolean
  status: 'too-short' | 'loading' | 'ready' | 'failed'
  options: Option[]
  /** The label above the options, which nobody can choose. */
  label?: string
  error: string
  /** Index of the active option. -1: none. */
  active: number
}

export interface PickerListProps {
  selected: Option | undefined
  minQuery: number
  onPick(option: Option): void
  onRetry(): void
}

export function pickerList(list: PickerList, props: PickerListProps): TemplateResult {
  const options = list.status === 'failed' || list.status === 'too-short' ? [] : list.options
  // A press of the mouse in the list must not take the focus from the field, because that closes the list.
  return html`<div class="popup" data-popup-for=${`${list.id}-frame`} @mousedown=${(event: Event) => event.preventDefault()}>
    ${list.status === 'ready' && list.label ? html`<div class="picker-message" role="status">${plainWithEmoji(list.label)}</div>` : nothing}
    <div role="listbox" id=${`${list.id}-list`} aria-label="Options" aria-busy=${list.status === 'loading'}>
      ${options.map((option, index) => optionRow(option, index, list, props))}
    </div>
    ${message(list, props, options.length)}
  </div>`
}

function optionRow(option: Option, index: number, list: PickerList, { selected, onPick }: PickerListProps): TemplateResult {
  const isSelected = selected?.value === option.value
  return html`<div
    class="option ${index === list.active ? 'is-active' : ''}"
    role="option"
    id=${`${list.id}-option-${index}`}
    aria-selected=${isSelected}
    @click=${() => onPick(option)}
  >
    <span class="option-text">${unbrokenWords(plainWithEmoji(option.text.text))}</span>
    ${option.description ? html`<span class="option-description">${unbrokenWords(plainWithEmoji(option.description.text))}</span>` : nothing}
    ${isSelected ? html`<span class="option-check">${icons.check}</span>` : nothing}
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
