import { html, nothing, type TemplateResult } from 'lit-html'
import type { Api } from './api.ts'
import type { Block, Element, ElementState, Option } from './block-shapes.ts'
import { choices } from './choices.ts'
import type { Forms } from './forms.ts'
import { plainWithEmoji } from './inline.ts'
import type { Menus } from './menus.ts'
import { type OptionSource, sectionsOf } from './picker-options.ts'
import type { Pickers } from './pickers.ts'
import type { Presses } from './presses.ts'
import { directoryOptions, isMulti, isSelect, selectedOptions, stateOfSelection } from './selection.ts'
import { domId, type Surface } from './surface.ts'
import { textField } from './text-field.ts'
import { unknownThing } from './unknown.ts'

export interface ElementsOptions {
  api: Api
  forms: Forms
  pickers: Pickers
  menus: Menus
  presses: Presses
  me(): string
}

/** How an element is tied to the label, hint and error of the input block around it. */
export interface Field {
  id: string
  /** The name of an element that stands without a label of its own. */
  label?: string
  invalid: boolean
  describedBy?: string | undefined
  /** Whether the bot is told of every change. Outside input blocks it always is. */
  dispatch: boolean
}

/** Everything that can be pressed, picked or typed into. */
export function createElements({ api, forms, pickers, menus, presses, me }: ElementsOptions) {
  function button(element: Element, blockId: string, surface: Surface): TemplateResult {
    const busy = presses.isBusy(surface, blockId, element)
    const style = element.style ? `button-${element.style}` : ''
    // Not disabled while busy: that would throw the focus away. A second press does nothing.
    return html`<button
      type="button"
      class="button ${style} ${busy ? 'is-busy' : ''}"
      aria-label=${element.accessibility_label ?? nothing}
      aria-busy=${busy ? 'true' : nothing}
      @click=${() => presses.button(surface, blockId, element)}
    >
      <span class="button-text">${plainWithEmoji(element.text?.text ?? '')}</span>${busy ? html`<span class="spinner"></span>` : nothing}
    </button>`
  }

  function sourceOf(element: Element, blockId: string, surface: Surface): OptionSource {
    if (element.type.endsWith('external_select')) {
      return {
        kind: 'asked',
        minQuery: element.min_query_length ?? 3,
        ask: (query) => api.options(me(), surface.place, { blockId, actionId: element.action_id ?? '' }, query),
      }
    }
    const people = directoryOptions(element, surface.directory)
    return { kind: 'given', sections: sectionsOf(people ? { options: people } : element) }
  }

  function select(element: Element, blockId: string, surface: Surface, field: Field): TemplateResult {
    const state = forms.read(surface.key, blockId, element)
    return pickers.render({
      id: field.id,
      label: field.label,
      placeholder: element.placeholder?.text ?? (isMulti(element) ? 'Select options' : 'Select an option'),
      selected: selectedOptions(element, state, surface.directory),
      multi: isMulti(element),
      max: element.max_selected_items ?? Number.POSITIVE_INFINITY,
      source: sourceOf(element, blockId, surface),
      busy: presses.isBusy(surface, blockId, element),
      invalid: field.invalid,
      describedBy: field.describedBy,
      autofocus: element.focus_on_load ?? false,
      onPick: (options) => change(element, blockId, surface, field, stateOfSelection(element, options)),
    })
  }

  function change(element: Element, blockId: string, surface: Surface, field: Field, state: ElementState) {
    if (surface.errors) delete surface.errors[blockId]
    void presses.change(surface, blockId, element, state, field.dispatch)
  }

  function overflow(element: Element, blockId: string, surface: Surface, field: Field): TemplateResult {
    return menus.render({
      id: field.id,
      label: element.accessibility_label ?? 'More actions',
      options: element.options ?? [],
      busy: presses.isBusy(surface, blockId, element),
      onPick: (option: Option) => {
        if (option.url) window.open(option.url, '_blank', 'noopener')
        change(element, blockId, surface, { ...field, dispatch: true }, { type: 'overflow', selected_option: option })
      },
    })
  }

  function render(element: Element, block: Block, surface: Surface, inInput?: Field): TemplateResult {
    const blockId = block.block_id ?? ''
    const field = inInput ?? alone(element, blockId, surface)
    const state = forms.read(surface.key, blockId, element)
    const onChange = (next: ElementState) => change(element, blockId, surface, field, next)

    if (isSelect(element)) return select(element, blockId, surface, field)
    switch (element.type) {
      case 'button':
        return button(element, blockId, surface)
      case 'overflow':
        return overflow(element, blockId, surface, field)
      case 'image':
        return html`<img class="accessory-image" src=${element.image_url ?? ''} alt=${element.alt_text ?? ''} />`
      case 'checkboxes':
      case 'radio_buttons':
        return choices({ element, state, field, surface, onChange })
      case 'plain_text_input':
      case 'number_input':
      case 'email_text_input':
      case 'url_text_input':
      case 'datepicker':
      case 'timepicker':
        return textField({ element, state, field, onChange, onType: (next) => forms.write(surface.key, blockId, element, next) })
      default:
        return unknownThing('element', element)
    }
  }

  return { render }
}

/** An element outside an input block. */
function alone(element: Element, blockId: string, surface: Surface): Field {
  return { id: domId(surface, blockId, element.action_id), label: element.placeholder?.text ?? 'Choose', invalid: false, dispatch: true }
}

export type Elements = ReturnType<typeof createElements>
