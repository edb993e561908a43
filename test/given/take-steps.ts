import { type Request, type RequestState, type StoredState, unknownState } from '../../src/domain/request.ts'
import { type StepName, stateAfter, stepOf } from '../../src/record/steps.ts'
import type { StepData, Store } from '../../src/record/store.ts'

/** A step by its name, or with its data. */
export type PlannedStep = StepName | readonly [name: StepName, data: StepData]

/** The steps from a new request to a change that takes effect. */
export const untilTracking = ['approve', 'send', 'accept'] as const satisfies StepName[]

/** Takes these steps in turn, each from the current record, and returns the last record. Throws if a step is not taken. */
export async function takeSteps(store: Pick<Store, 'find' | 'take'>, id: string, ...planned: PlannedStep[]): Promise<Request> {
  let request = await found(store, id)
  for (const step of planned) {
    const [name, data] = typeof step === 'string' ? [step, {}] : step
    const { outcome } = await store.take(request, name, data)
    if (outcome !== 'won') throw new Error(`the step ${name} of a request that is ${request.state}: ${outcome}`)
    request = await found(store, id)
  }
  return request
}

async function found(store: Pick<Store, 'find'>, id: string): Promise<Request> {
  const request = await store.find(id)
  if (!request) throw new Error(`there is no request ${id}`)
  return request
}

/** Returns the state after a step, for stores without Redis. Throws if the step is not possible in this state. */
export function afterStep(before: StoredState, name: StepName): RequestState {
  if (before === unknownState || !stepOf(name).from.includes(before)) throw new Error(`no step ${name} from ${before}`)
  return stateAfter(name, before)
}
