import type { Api, Press } from './api.ts'
import type { Element, ElementState } from './block-shapes.ts'
import type { Confirm } from './confirm.ts'
import type { Forms } from './forms.ts'
import type { Surface } from './surface.ts'

export interface PressesOptions {
  api: Api
  forms: Forms
  confirm: Confirm
  me(): string
  notify(sentence: string): void
  update(): void
}

/** Handles a press or a choice: asks the question first, then calls the bot. The element is busy until the bot has answered. */
export function createPresses({ api, forms, confirm, me, notify, update }: PressesOptions) {
  const busy = new Set<string>()
  const keyOf = (surface: Surface, blockId: string, element: Element) => `${surface.key}/${blockId}/${element.action_id}`

  async function send(surface: Surface, blockId: string, element: Element, press: Pick<Press, 'value' | 'action'>) {
    const key = keyOf(surface, blockId, element)
    if (busy.has(key)) return
    busy.add(key)
    update()
    const values = 'view' in surface.seen && { values: forms.valuesOf(surface.key, surface.seen.view) }
    const answer = await api.click(me(), surface.place, surface.seen, { blockId, actionId: element.action_id ?? '', ...press, ...values })
    busy.delete(key)
    if (!answer.ok) notify(answer.error)
    update()
  }

  async function agreed(surface: Surface, element: Element): Promise<boolean> {
    return element.confirm ? confirm.ask(element.confirm, surface.names) : true
  }

  return {
    isBusy: (surface: Surface, blockId: string, element: Element) => busy.has(keyOf(surface, blockId, element)),

    async button(surface: Surface, blockId: string, element: Element) {
      if (!(await agreed(surface, element))) return
      await send(surface, blockId, element, element.value === undefined ? {} : { value: element.value })
    },

    /** Keeps the choice, and sends it to the bot if the block says so. */
    async change(surface: Surface, blockId: string, element: Element, state: ElementState, dispatch: boolean) {
      if (dispatch && !(await agreed(surface, element))) return update()
      forms.write(surface.key, blockId, element, state)
      update()
      if (!dispatch) return
      await send(surface, blockId, element, { action: { ...state, action_id: element.action_id ?? '', block_id: blockId } })
    },
  }
}

export type Presses = ReturnType<typeof createPresses>
