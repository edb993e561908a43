import { html, nothing, type TemplateResult } from 'lit-html'
import type { Api, Channel } from './api.ts'
import type { Block, Element, ElementState, Option } from './block-shapes.ts'
import { checkboxes, radioButtons } from './choices.ts'
import { conversationOptions, fittingOptions } from './conversations.ts'
import type { Forms } from './forms.ts'
import { plainWithEmoji } from './inline.ts'
import type { Pickers } from './pickers.ts'
import type { Presses } from './presses.ts'
import { domId, type Surface } from './surface.ts'
import { textField } from './text-field.ts'

export interface ElementsOptions {
  api: Api
  forms: Forms
  pickers: Pickers
  presses: Presses
  channels: Channel[]
  me(): string
}

/** Ties an element to the label, hint and error of the input block around it. */
export interface Field {
  id: string
  /** The name of an element that has no label. */
  label?: string
  invalid: boolean
  describedBy?: string | undefined
  /** Whether the bot receives every change. Outside of input blocks it always does. */
  dispatch: boolean
}

/** Renders everything that can be pressed, chosen or typed into. Add a case for an element that the bot is to send next. */
export function createElements({ api, forms, pickers, presses, channels, me }: ElementsOptions) {
  function button(element: Element, blockId: string, surface: Surface): TemplateResult {
    const busy = presses.isBusy(surface, blockId, element)
    const style = element.style ? `button-${element.style}` : ''
    // Not disabled while busy, because that would lose the focus. A second press does nothing.
    return html`<button
      type="button"
      class="button ${style} ${busy ? 'is-busy' : ''}"
      aria-busy=${busy ? 'true' : nothing}
      @click=${() => presses.button(surface, blockId, element)}
    >
      <span class="button-text">${plainWithEmoji(element.text?.text ?? '')}</span>${busy ? html`<span class="spinner"></span>` : nothing}
    </button>`
  }

  /** Renders a select as a field with a search. `options`: all of them. The bot is asked for those of an external select. */
  function select(element: Element, blockId: string, surface: Surface, field: Field, options?: Option[]): TemplateResult {
    const { selected_option: option, selected_conversation: conversation } = forms.read(surface.key, blockId, element)
    const stateOf = (picked: Option | undefined) =>
      element.type === 'conversations_select' ? { selected_conversation: picked?.value ?? null } : { selected_option: picked ?? null }
    return pickers.render({
      id: field.id,
      label: field.label,
      placeholder: element.placeholder?.text ?? 'Select an option',
      selected: option ?? options?.find(({ value }) => value === conversation),
      minQuery: options ? 0 : (element.min_query_length ?? 3),
      search: async (query) =>
        options
          ? { ok: true, options: fittingOptions(options, query) }
          : api.options(me(), surface.place, { blockId, actionId: element.action_id ?? '' }, query),
      busy: presses.isBusy(surface, blockId, element),
      invalid: field.invalid,
      describedBy: field.describedBy,
      onPick: (picked) => change(element, blockId, surface, field, { type: element.type, ...stateOf(picked) }),
    })
  }

  function change(element: Element, blockId: string, surface: Surface, field: Field, state: ElementState) {
    if (surface.errors) delete surface.errors[blockId]
    void presses.change(surface, blockId, element, state, field.dispatch)
  }

  function render(element: Element, block: Block, surface: Surface, inInput?: Field): TemplateResult {
    const blockId = block.block_id ?? ''
    const field = inInput ?? alone(element, blockId, surface)
    const state = forms.read(surface.key, blockId, element)
    const onChange = (next: ElementState) => change(element, blockId, surface, field, next)

    switch (element.type) {
      case 'button':
        return button(element, blockId, surface)
      case 'external_select':
        return select(element, blockId, surface, field)
      case 'static_select':
        return select(element, blockId, surface, field, element.options ?? [])
      case 'conversations_select':
        return select(element, blockId, surface, field, conversationOptions(channels, element.filter))
      case 'radio_buttons':
        return radioButtons({ element, state, field, surface, onChange })
      case 'checkboxes':
        return checkboxes({ element, state, field, surface, onChange })
      case 'plain_text_input':
        return textField({ element, state, field, onChange })
      default:
        throw new Error(`The page cannot draw an element of the type "${element.type}": add it to elements.ts.`)
    }
  }

  return { render }
}

/** An element outside of an input block. */
function alone(element: Element, blockId: string, surface: Surface): Field {
  return { id: domId(surface, blockId, element.action_id), label: element.placeholder?.text ?? 'Choose', invalid: false, dispatch: true }
}

export type Elements = ReturnType<typeof createElements>
