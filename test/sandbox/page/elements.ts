import { html, nothing, type TemplateResult } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import { choose, isBusy, press, stateOf } from './forms.ts'
import { page } from './page.ts'
import { picker } from './picker.ts'
import type { Block, Element, ElementState, Option, Surface } from './shapes.ts'
import { plainWithEmoji, renderText } from './text.ts'

/** Ties an element to the label, hint and error of the input block around it. */
export interface Field {
  id: string
  /** The name of an element without a label. */
  label?: string
  isInvalid: boolean
  describedBy?: string | undefined
  /** Whether the bot receives every change. Outside of input blocks it always does. */
  dispatch: boolean
}

interface ElementProps {
  element: Element
  state: ElementState
  field: Field
  onChange(state: Omit<ElementState, 'type'>): void
}

/** Returns a document id that ties a label, a hint or a list to an element of this surface. */
export function domId(surface: Surface, ...parts: (string | undefined)[]): string {
  return ['at', surface.key, ...parts].join('-').replace(/[^\w-]/g, '_')
}

/** Renders everything that can be pressed, chosen or typed into. Add a case for an element that the bot is to send next. */
export function renderElement(element: Element, block: Block, surface: Surface, inInput?: Field): TemplateResult {
  const blockId = block.block_id ?? ''
  const label = element.placeholder?.text ?? 'Choose'
  const field = inInput ?? { id: domId(surface, blockId, element.action_id), label, isInvalid: false, dispatch: true }
  const state = stateOf(surface, blockId, element)
  const onChange = (next: Omit<ElementState, 'type'>) =>
    void choose(surface, blockId, element, { type: element.type, ...next }, field.dispatch)
  const props: ElementProps = { element, state, field, onChange }

  switch (element.type) {
    case 'button':
      return button(element, isBusy(surface, blockId, element), () => void press(surface, blockId, element))
    case 'external_select':
      return picker({ ...props, blockId, surface, onPick: (option) => onChange({ selected_option: option ?? null }) })
    case 'static_select': {
      const chosen = state.selected_option?.value
      return select(props, element.options ?? [], chosen, (option) => onChange({ selected_option: option ?? null }))
    }
    case 'conversations_select': {
      const offered = page.workspace.channels.filter(({ isShared }) => !isShared || !element.filter?.exclude_external_shared_channels)
      const options = offered.map(({ id, name }): Option => ({ text: { type: 'plain_text', text: `#${name}` }, value: id }))
      return select(props, options, state.selected_conversation, (option) => onChange({ selected_conversation: option?.value ?? null }))
    }
    case 'radio_buttons':
      return choices('radio', props, ({ value }) => value === state.selected_option?.value)
    case 'checkboxes':
      return choices('checkbox', props, (option) => isTicked(state, option))
    case 'plain_text_input':
      return textField(props)
    default:
      throw new Error(`The page cannot draw an element of the type "${element.type}": add it to elements.ts.`)
  }
}

function button({ text, style, url }: Element, isBusyNow: boolean, onPress: () => void): TemplateResult {
  const label = plainWithEmoji(text?.text ?? '')
  if (url) return html`<a class="button ${style ?? ''}" href=${url} target="_blank" rel="noopener" @click=${onPress}>${label}</a>`
  // Not disabled while busy, because that would lose the focus. A second press does nothing.
  return html`<button type="button" class="button ${style ?? ''}" aria-busy=${isBusyNow ? 'true' : nothing} @click=${onPress}>
    ${label}
  </button>`
}

function textField({ element, state, field, onChange }: ElementProps): TemplateResult {
  const value = live(state.value ?? '')
  const onInput = (event: Event) => onChange({ value: (event.target as HTMLInputElement).value || null })
  const [placeholder, most] = [element.placeholder?.text ?? nothing, element.max_length ?? nothing]
  const [invalid, described] = [field.isInvalid, field.describedBy ?? nothing]
  return element.multiline
    ? html`<textarea class="field" id=${field.id} rows="4" placeholder=${placeholder} maxlength=${most} aria-invalid=${invalid}
        aria-describedby=${described} .value=${value} @input=${onInput}></textarea>`
    : html`<input class="field" id=${field.id} placeholder=${placeholder} maxlength=${most} autocomplete="off" aria-invalid=${invalid}
        aria-describedby=${described} .value=${value} @input=${onInput} />`
}

function select(
  { element, field }: ElementProps,
  options: Option[],
  chosen: string | null | undefined,
  onPick: (option: Option | undefined) => void,
): TemplateResult {
  const pick = (event: Event) => onPick(options.find(({ value }) => value === (event.target as HTMLSelectElement).value))
  return html`<select class="field" id=${field.id} aria-label=${field.label ?? nothing} aria-invalid=${field.isInvalid}
    aria-describedby=${field.describedBy ?? nothing} @change=${pick}>
    <option value="">${element.placeholder?.text ?? 'Select an option'}</option>
    ${options.map(
      ({ text, value }) => html`<option value=${value} .selected=${live(value === chosen)}>${plainWithEmoji(text.text)}</option>`,
    )}
  </select>`
}

function choices(type: 'radio' | 'checkbox', { element, state, field, onChange }: ElementProps, isChosen: (option: Option) => boolean) {
  const { options = [] } = element
  const pick = (option: Option) =>
    onChange(
      type === 'radio'
        ? { selected_option: option }
        : { selected_options: options.filter((each) => isTicked(state, each) !== (each.value === option.value)) },
    )
  return html`<div class="choices" role=${type === 'radio' ? 'radiogroup' : 'group'} id=${field.id} aria-labelledby=${`${field.id}-label`}
    aria-describedby=${field.describedBy ?? nothing} aria-invalid=${field.isInvalid}>
    ${options.map(
      (option, index) => html`<div class="choice">
        <input type=${type} id=${`${field.id}-${index}`} name=${field.id} .checked=${live(isChosen(option))}
          @change=${() => pick(option)} />
        <label for=${`${field.id}-${index}`}>${renderText(option.text)}</label>
        ${option.description ? html`<div class="small">${renderText(option.description)}</div>` : nothing}
      </div>`,
    )}
  </div>`
}

function isTicked({ selected_options: ticked = [] }: ElementState, { value }: Option): boolean {
  return ticked.some((each) => each.value === value)
}
