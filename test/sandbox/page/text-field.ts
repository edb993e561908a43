import { html, nothing, type TemplateResult } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import type { Element, ElementState } from './block-shapes.ts'
import type { Field } from './elements.ts'

interface TextFieldProps {
  element: Element
  state: ElementState
  field: Field
  /** A finished change, which the bot may be told of. */
  onChange(state: ElementState): void
  /** Letters on the way there. */
  onType(state: ElementState): void
}

/** The browser's own field for each kind of text, and the member of the state that it fills. */
const kinds: Record<string, { input: string; member: 'value' | 'selected_date' | 'selected_time' }> = {
  plain_text_input: { input: 'text', member: 'value' },
  number_input: { input: 'number', member: 'value' },
  email_text_input: { input: 'email', member: 'value' },
  url_text_input: { input: 'url', member: 'value' },
  datepicker: { input: 'date', member: 'selected_date' },
  timepicker: { input: 'time', member: 'selected_time' },
}

export function textField({ element, state, field, onChange, onType }: TextFieldProps): TemplateResult {
  const { input, member } = kinds[element.type] ?? { input: 'text', member: 'value' }
  const value = state[member] ?? ''
  const triggers = element.dispatch_action_config?.trigger_actions_on ?? ['on_enter_pressed']
  const eachLetter = member !== 'value' || (field.dispatch && triggers.includes('on_character_entered'))

  const next = (event: Event): ElementState => ({ type: element.type, [member]: (event.target as HTMLInputElement).value || null })
  const onInput = (event: Event) => {
    if (eachLetter || field.invalid || !field.dispatch) onChange(next(event))
    else onType(next(event))
  }
  const onKeydown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !field.dispatch || !triggers.includes('on_enter_pressed')) return
    event.preventDefault()
    onChange(next(event))
  }

  if (element.multiline) {
    return html`<textarea
      class="text-field"
      id=${field.id}
      rows="4"
      placeholder=${element.placeholder?.text ?? nothing}
      maxlength=${element.max_length ?? nothing}
      aria-label=${field.label ?? nothing}
      aria-invalid=${field.invalid ? 'true' : nothing}
      aria-describedby=${field.describedBy ?? nothing}
      ?data-autofocus=${element.focus_on_load ?? false}
      .value=${live(value)}
      @input=${onInput}
    ></textarea>`
  }
  return html`<input
    class="text-field"
    id=${field.id}
    type=${input}
    step=${input === 'number' ? 'any' : nothing}
    placeholder=${element.placeholder?.text ?? nothing}
    maxlength=${element.max_length ?? nothing}
    autocomplete="off"
    aria-label=${field.label ?? nothing}
    aria-invalid=${field.invalid ? 'true' : nothing}
    aria-describedby=${field.describedBy ?? nothing}
    ?data-autofocus=${element.focus_on_load ?? false}
    .value=${live(value)}
    @input=${onInput}
    @keydown=${onKeydown}
  />`
}
