import { html, nothing, type TemplateResult } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import type { Element, ElementState, Option } from './block-shapes.ts'
import type { Field } from './elements.ts'
import { renderText } from './inline.ts'
import type { Surface } from './surface.ts'

interface CheckboxesProps {
  element: Element
  state: ElementState
  field: Field
  surface: Surface
  onChange(state: ElementState): void
}

export function checkboxes({ element, state, field, surface, onChange }: CheckboxesProps): TemplateResult {
  const choice = (option: Option, index: number) => html`<div class="choice">
    <input
      class="choice-mark"
      id=${`${field.id}-${index}`}
      type="checkbox"
      .checked=${live(isTicked(state, option))}
      @change=${() => onChange({ type: element.type, selected_options: toggled(element, state, option) })}
    />
    <label for=${`${field.id}-${index}`}>${renderText(option.text, surface.names)}</label>
    ${option.description ? html`<div class="choice-description">${renderText(option.description, surface.names)}</div>` : nothing}
  </div>`

  return html`<div
    class="choices"
    role="group"
    id=${field.id}
    aria-labelledby=${`${field.id}-label`}
    aria-describedby=${field.describedBy ?? nothing}
    aria-invalid=${field.invalid ? 'true' : nothing}
  >
    ${element.options?.map(choice)}
  </div>`
}

function isTicked({ selected_options: ticked = [] }: ElementState, { value }: Option): boolean {
  return ticked.some((each) => each.value === value)
}

/** Returns the ticked options after a press, in the order in which they are shown. */
function toggled({ options = [] }: Element, state: ElementState, pressed: Option): Option[] {
  return options.filter((option) => isTicked(state, option) !== (option.value === pressed.value))
}
