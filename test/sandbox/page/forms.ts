import type { Block, Element, ElementState, FormValues, ModalView } from './block-shapes.ts'

/** Returns the elements of a block that have a value. Buttons have none. */
function holders(block: Block): Element[] {
  const all = block.type === 'actions' ? ((block.elements ?? []) as Element[]) : [block.element, block.accessory]
  return all.filter((element) => element !== undefined && element.type !== 'button') as Element[]
}

/** Returns the state of an untouched element. `here` is the channel behind the form, if there is one. */
function initialState(element: Element, here: string | undefined): ElementState {
  const { type } = element
  if (type === 'plain_text_input') return { type, value: element.initial_value ?? null }
  if (type !== 'conversations_select') return { type, selected_option: element.initial_option ?? null }
  const current = element.default_to_current_conversation ? here : undefined
  return { type, selected_conversation: element.initial_conversation ?? current ?? null }
}

export function isEmpty({ value, selected_option: option, selected_conversation: conversation }: ElementState): boolean {
  return !value && !option && !conversation
}

/** Keeps what people typed and chose, by message and view. As in Slack, it survives updates of a view for elements with the same ids. */
export function createForms({ here }: { here(): string | undefined }) {
  const held = new Map<string, Map<string, ElementState>>()

  function read(surface: string, blockId: string, element: Element): ElementState {
    return held.get(surface)?.get(`${blockId}/${element.action_id}`) ?? initialState(element, here())
  }

  return {
    read,

    write(surface: string, blockId: string, element: Element, state: ElementState) {
      const form = held.get(surface) ?? new Map<string, ElementState>()
      form.set(`${blockId}/${element.action_id}`, state)
      held.set(surface, form)
    },

    valuesOf(surface: string, view: ModalView): FormValues {
      const values: FormValues = {}
      for (const block of view.blocks) {
        const blockId = block.block_id ?? ''
        for (const element of holders(block)) {
          values[blockId] = { ...values[blockId], [element.action_id ?? '']: read(surface, blockId, element) }
        }
      }
      return values
    },
  }
}

export type Forms = ReturnType<typeof createForms>
