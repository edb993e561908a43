import { html, nothing, type TemplateResult } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import type { Element, ElementState } from './block-shapes.ts'
import type { Field } from './elements.ts'

interface TextFieldProps {
  element: Element
  state: ElementState
  field: Field
  onChange(state: ElementState): void
}

export function textField({ element, state, field, onChange }: TextFieldProps): TemplateResult {
  const value = live(state.value ?? '')
  const placeholder = element.placeholder?.text ?? nothing
  const invalid = field.invalid ? 'true' : nothing
  const onInput = (event: Event) => onChange({ type: element.type, value: (event.target as HTMLInputElement).value || null })

  if (element.multiline) {
    return html`<textarea
      class="text-field"
      id=${field.id}
      rows="4"
      placeholder=${placeholder}
      maxlength=${element.max_length ?? nothing}
      aria-invalid=${invalid}
      aria-describedby=${field.describedBy ?? nothing}
      .value=${value}
      @input=${onInput}
    ></textarea>`
  }
  return html`<input
    class="text-field"
    id=${field.id}
    type="text"
    placeholder=${placeholder}
    maxlength=${element.max_length ?? nothing}
    autocomplete="off"
    aria-invalid=${invalid}
    aria-describedby=${field.describedBy ?? nothing}
    .value=${value}
    @input=${onInput}
  />`
}
