import type { Block, Element, ElementState, FormValues, ModalView } from './block-shapes.ts'
import { initialState } from './selection.ts'

/** Elements that hold something; the others are only pressed. */
export function isStateful(element: Element): boolean {
  return !['button', 'overflow', 'image'].includes(element.type)
}

/** The elements of a block that a person can use. */
export function usableElements(block: Block): Element[] {
  if (block.type === 'actions') return (block.elements ?? []) as Element[]
  return [block.element, block.accessory].filter((element) => element !== undefined)
}

/** What people have typed and picked so far, per message and view. It outlasts updates of a view, as in Slack, for elements that keep their ids. */
export function createForms() {
  const held = new Map<string, Map<string, ElementState>>()

  function read(surface: string, blockId: string, element: Element): ElementState {
    return held.get(surface)?.get(`${blockId}/${element.action_id}`) ?? initialState(element)
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
        for (const element of usableElements(block).filter(isStateful)) {
          values[blockId] = { ...values[blockId], [element.action_id ?? '']: read(surface, blockId, element) }
        }
      }
      return values
    },
  }
}

export type Forms = ReturnType<typeof createForms>
