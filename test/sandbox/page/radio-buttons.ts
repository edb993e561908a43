import { html, nothing, type TemplateResult } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import type { Element, ElementState, Option } from './block-shapes.ts'
import type { Field } from './elements.ts'
import { renderText } from './inline.ts'
import type { Surface } from './surface.ts'

interface RadioButtonsProps {
  element: Element
  state: ElementState
  field: Field
  surface: Surface
  onChange(state: ElementState): void
}

export function radioButtons({ element, state, field, surface, onChange }: RadioButtonsProps): TemplateResult {
  const choice = (option: Option, index: number) => html`<div class="choice">
    <input
      class="choice-mark"
      id=${`${field.id}-${index}`}
      type="radio"
      name=${field.id}
      .checked=${live(state.selected_option?.value === option.value)}
      @change=${() => onChange({ type: element.type, selected_option: option })}
    />
    <label for=${`${field.id}-${index}`}>${renderText(option.text, surface.names)}</label>
    ${option.description ? html`<div class="choice-description">${renderText(option.description, surface.names)}</div>` : nothing}
  </div>`

  return html`<div
    class="choices"
    role="radiogroup"
    id=${field.id}
    aria-labelledby=${`${field.id}-label`}
    aria-describedby=${field.describedBy ?? nothing}
    aria-invalid=${field.invalid ? 'true' : nothing}
  >
    ${element.options?.map(choice)}
  </div>`
}
