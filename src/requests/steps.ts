import type { RequestState } from '../domain/request/request.ts'
import type { ItemState } from '../domain/request/request-item.ts'
import { decidingSteps } from './steps/deciding.ts'
import { itemSteps } from './steps/items.ts'
import { sendingSteps } from './steps/sending.ts'
import type { Stamp, Step } from './steps/step.ts'
import { trackingSteps } from './steps/tracking.ts'

/**
 * The state machine: every step of a request, in the order of its life. Nothing else changes a state or raises the revision of an existing
 * record: `store.take` finds a step here, and the Lua script `take-step` takes it as one compare-and-set. The outbox writes its own fields
 * beside it. docs/request-states.md is generated from these tables.
 */
export const steps = { ...decidingSteps, ...sendingSteps, ...trackingSteps }
export type StepName = keyof typeof steps
export type ItemStepName = keyof typeof itemSteps

export function itemStepOf(name: ItemStepName): Step<ItemState> {
  return itemSteps[name]
}

export function stepOf(name: StepName): Step {
  return steps[name]
}

/** Returns the state after a step. */
export function stateAfter(name: StepName, before: RequestState): RequestState {
  const { to } = stepOf(name)
  return to === 'same' ? before : to
}

/** Returns the state after an act of the audit. Returns undefined if the act is no step, or one that keeps the state. */
export function stateOfAct(act: string): RequestState | undefined {
  const to = stepOfAct(act)?.to
  return to === 'same' ? undefined : to
}

/** Returns the state of the item after an act of the audit. Returns undefined if the act is no step of an item, or one that keeps the state. */
export function stateOfItemAct(act: string): ItemState | undefined {
  const to = itemStepOfAct(act)?.to
  return to === 'same' ? undefined : to
}

/** Whether an act of the audit is a step with which a write is sent. Such a step sets `sentAt`. */
export function isSend(act: string): boolean {
  return setsStamp(act, 'sentAt')
}

/** Whether an act of the audit says that a write was certainly not carried out, so that another one may be sent. */
export function isUnsend(act: string): boolean {
  return (stepOfAct(act) ?? itemStepOfAct(act))?.unsends === true
}

/** Whether an act of the audit is a step that ends a request, or the item that it is about. Such a step sets `endedAt`. */
export function isEnd(act: string): boolean {
  return setsStamp(act, 'endedAt')
}

function setsStamp(act: string, stamp: Stamp): boolean {
  return (stepOfAct(act) ?? itemStepOfAct(act))?.stamps?.includes(stamp) ?? false
}

/** Whether an act of the audit decides whether a request, or the item that it is about, may still be sent. */
export function sendsOrEnds(act: string): boolean {
  if (itemStepOfAct(act)) return true
  const to = stateOfAct(act)
  return isSend(act) || isUnsend(act) || (to !== undefined && to !== 'waiting' && to !== 'approved')
}

function stepOfAct(act: string): Step | undefined {
  return Object.hasOwn(steps, act) ? stepOf(act as StepName) : undefined
}

function itemStepOfAct(act: string): Step<ItemState> | undefined {
  return Object.hasOwn(itemSteps, act) ? itemStepOf(act as ItemStepName) : undefined
}
