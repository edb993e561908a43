import { html, nothing, type TemplateResult } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import type { Element, ElementState, Option } from './block-shapes.ts'
import type { Field } from './elements.ts'
import { renderText } from './inline.ts'
import type { Surface } from './surface.ts'

interface ChoicesProps {
  element: Element
  state: ElementState
  field: Field
  surface: Surface
  onChange(state: ElementState): void
}

/** Checkboxes and radio buttons. */
export function choices({ element, state, field, surface, onChange }: ChoicesProps): TemplateResult {
  const several = element.type === 'checkboxes'
  const options = element.options ?? []
  const chosen = several ? (state.selected_options ?? []) : state.selected_option ? [state.selected_option] : []
  const isChosen = (option: Option) => chosen.some(({ value }) => value === option.value)

  function toggle(option: Option) {
    if (!several) return onChange({ type: element.type, selected_option: option })
    onChange({
      type: element.type,
      selected_options: options.filter((other) => (other.value === option.value ? !isChosen(option) : isChosen(other))),
    })
  }

  return html`<div
    class="choices"
    role=${several ? 'group' : 'radiogroup'}
    id=${field.id}
    aria-label=${field.label ?? nothing}
    aria-labelledby=${field.label ? nothing : `${field.id}-label`}
    aria-describedby=${field.describedBy ?? nothing}
    aria-invalid=${field.invalid && !several ? 'true' : nothing}
  >
    ${options.map(
      (option, index) => html`<div class="choice">
        <input
          class="choice-mark"
          id=${`${field.id}-${index}`}
          type=${several ? 'checkbox' : 'radio'}
          name=${field.id}
          .checked=${live(isChosen(option))}
          ?data-autofocus=${index === 0 && (element.focus_on_load ?? false)}
          @change=${() => toggle(option)}
        />
        <label for=${`${field.id}-${index}`}>${renderText(option.text, surface.names)}</label>
        ${option.description ? html`<div class="choice-description">${renderText(option.description, surface.names)}</div>` : nothing}
      </div>`,
    )}
  </div>`
}
