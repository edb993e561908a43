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

/** Renders options of which people choose one. */
export function radioButtons({ element, state, field, surface, onChange }: ChoicesProps): TemplateResult {
  return group('radiogroup', field, element, (option, id) => {
    const isChosen = state.selected_option?.value === option.value
    const choose = () => onChange({ type: element.type, selected_option: option })
    return row(
      option,
      html`<input class="choice-mark" id=${id} type="radio" name=${field.id} .checked=${live(isChosen)} @change=${choose} />`,
      { id, surface },
    )
  })
}

/** Renders options of which people choose any number. */
export function checkboxes({ element, state, field, surface, onChange }: ChoicesProps): TemplateResult {
  return group('group', field, element, (option, id) => {
    const toggle = () => onChange({ type: element.type, selected_options: toggled(element, state, option) })
    return row(
      option,
      html`<input class="choice-mark" id=${id} type="checkbox" .checked=${live(isTicked(state, option))} @change=${toggle} />`,
      { id, surface },
    )
  })
}

function group(
  role: 'group' | 'radiogroup',
  { id, describedBy, invalid }: Field,
  { options = [] }: Element,
  choice: (option: Option, id: string) => TemplateResult,
): TemplateResult {
  return html`<div
    class="choices"
    role=${role}
    id=${id}
    aria-labelledby=${`${id}-label`}
    aria-describedby=${describedBy ?? nothing}
    aria-invalid=${invalid ? 'true' : nothing}
  >
    ${options.map((option, index) => choice(option, `${id}-${index}`))}
  </div>`
}

function row({ text, description }: Option, mark: TemplateResult, { id, surface }: { id: string; surface: Surface }): TemplateResult {
  return html`<div class="choice">
    ${mark}
    <label for=${id}>${renderText(text, surface.names)}</label>
    ${description ? html`<div class="choice-description">${renderText(description, surface.names)}</div>` : nothing}
  </div>`
}

function isTicked({ selected_options: ticked = [] }: ElementState, { value }: Option): boolean {
  return ticked.some((each) => each.value === value)
}

/** Returns the ticked options after a press, in the order in which they are shown. */
function toggled({ options = [] }: Element, state: ElementState, pressed: Option): Option[] {
  return options.filter((option) => isTicked(state, option) !== (option.value === pressed.value))
}
