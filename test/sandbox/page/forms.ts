import { api, type Press } from './api.ts'
import { notify, page, tabHere, update } from './page.ts'
import type { Confirmation, Element, ElementState, FormValues, Surface, View } from './shapes.ts'

/** What people typed and chose. As in Slack, it survives updates of a view for elements with the same ids. */
const held = new Map<string, ElementState>()
const busy = new Set<string>()
let question: { asked: Confirmation; answer(yes: boolean): void } | undefined

const keyOf = ({ key }: Surface, blockId: string, element: Element) => `${key}/${blockId}/${element.action_id}`

export function stateOf(surface: Surface, blockId: string, element: Element): ElementState {
  return held.get(keyOf(surface, blockId, element)) ?? initialState(element)
}

function initialState(element: Element): ElementState {
  const { type } = element
  if (type === 'plain_text_input') return { type, value: element.initial_value ?? null }
  if (type === 'checkboxes') return { type, selected_options: element.initial_options ?? [] }
  if (type !== 'conversations_select') return { type, selected_option: element.initial_option ?? null }
  const current = element.default_to_current_conversation && !tabHere() ? page.place : null
  return { type, selected_conversation: element.initial_conversation ?? current }
}

function holdersIn({ blocks }: View): { blockId: string; element: Element }[] {
  return blocks.flatMap((block) => {
    const all = block.type === 'actions' ? ((block.elements ?? []) as Element[]) : [block.element, block.accessory]
    return all.flatMap((element) => (element && element.type !== 'button' ? [{ blockId: block.block_id ?? '', element }] : []))
  })
}

export function valuesOf(surface: Surface, view: View): FormValues {
  const values: FormValues = {}
  for (const { blockId, element } of holdersIn(view)) {
    values[blockId] = { ...values[blockId], [element.action_id ?? '']: stateOf(surface, blockId, element) }
  }
  return values
}

export const isBusy = (surface: Surface, blockId: string, element: Element) => busy.has(keyOf(surface, blockId, element))

export async function press(surface: Surface, blockId: string, element: Element): Promise<void> {
  const asked = element.confirm
  if (asked && !(await ask(asked))) return
  await send(surface, blockId, element, { value: element.value })
}

/** Keeps a choice. `dispatch`: whether the bot is told of it. */
export async function choose(surface: Surface, blockId: string, element: Element, state: ElementState, dispatch: boolean): Promise<void> {
  held.set(keyOf(surface, blockId, element), state)
  if (surface.errors) delete surface.errors[blockId]
  update()
  if (dispatch) await send(surface, blockId, element, { action: state })
}

async function send(surface: Surface, blockId: string, element: Element, choice: Pick<Press, 'value' | 'action'>): Promise<void> {
  const key = keyOf(surface, blockId, element)
  if (busy.has(key)) return
  busy.add(key)
  update()
  const values = 'view' in surface.seen ? valuesOf(surface, surface.seen.view) : undefined
  const answer = await api.click(page.me.id, surface, { blockId, actionId: element.action_id ?? '', ...choice, values })
  busy.delete(key)
  if (!answer.ok) notify(answer.error)
  update()
}

/** The question that is shown before an element with `confirm` acts. */
export const questionNow = () => question?.asked

function ask(asked: Confirmation): Promise<boolean> {
  return new Promise((answer) => {
    question = { asked, answer }
    update()
  })
}

export function answerQuestion(yes: boolean) {
  question?.answer(yes)
  question = undefined
  update()
}

export const cancelQuestion = () => answerQuestion(false)
