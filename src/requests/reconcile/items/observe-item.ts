import type { Observation, ObserveOptions } from '../../../domain/change/observation.ts'
import { AccountLimitError } from '../../../domain/errors/api-errors.ts'
import type { Request, Underway } from '../../../domain/request/request.ts'
import { isItemUnderway, type RequestItem } from '../../../domain/request/request-item.ts'
import type { Timings } from '../../../domain/timings.ts'
import type { Catalog, OpenedItem } from '../../catalog.ts'
import type { ItemStepName, StepName } from '../../steps.ts'
import type { Store } from '../../store/store.ts'
import { momentOf } from '../track/moment.ts'
import { nextStep } from '../track/next-step.ts'
import type { Observed } from '../track/observe.ts'
import type { ItemNow, ItemStep, ItemSteps } from './item-steps.ts'

/** The step of an item that corresponds to a step of a request. A correction first restarts the item, and the next observation ends it. */
const stepsOfItems: Partial<Record<StepName, ItemStepName>> = {
  accept: 'accept-item',
  late: 'late-item',
  finish: 'finish-item',
  fail: 'fail-item',
  'fail-begun': 'fail-item',
  supersede: 'supersede-item',
  'not-start': 'not-start-item',
  'correct-to-tracking': 'restart-item',
  'correct-to-done': 'finish-item',
  'correct-to-failed': 'fail-item',
  'correct-to-superseded': 'supersede-item',
  'correct-to-not-started': 'not-start-item',
}

interface ObserveItemParts {
  store: Pick<Store, 'isLatest'>
  catalog: Catalog
  itemSteps: ItemSteps
  /** How long after its write an item is reported as late. */
  lateAfterMs: number
  timings: Timings
  onApiError: (error: unknown) => void
}

/** Creates the function that reads the outcome of one item from the account, and takes the step that follows from it. */
export function createObserveItem({ store, catalog, itemSteps, lateAfterMs, timings, onApiError }: ObserveItemParts) {
  async function observeItem(request: Request, item: RequestItem, now: number, options: ObserveOptions): Promise<Observed> {
    const whole = catalog.openIfFit(request)
    const opened = whole && catalog.itemsOf(whole).find(({ id }) => id === item.id)
    if (!opened || !(await isTracked(request, item, opened, now))) return 'skipped'
    const observation = await read(request, item, opened, now, options)
    const stepFor = (current: Pick<ItemNow, 'request' | 'item'>) =>
      itemStep(asUnderway(current.request, current.item, opened), typeof observation === 'object' ? observation : { is: 'unclear' }, now)
    // Most observations lead to no step, and then the record is not read again.
    if (stepFor({ request, item })) await itemSteps.takeItemStep(request.id, item.id, stepFor)
    return typeof observation === 'object' ? 'read' : observation
  }

  /** After its end an item is tracked for a while, unless a later request changes the same resource. */
  async function isTracked(request: Request, item: RequestItem, { resource }: OpenedItem, now: number): Promise<boolean> {
    if (isItemUnderway(item)) return true
    return now <= (item.trackedUntil ?? 0) && (await store.isLatest({ ...request, resource }))
  }

  async function read(
    request: Request,
    item: RequestItem,
    { change, input, latest }: OpenedItem,
    now: number,
    options: ObserveOptions,
  ): Promise<Observation | 'skipped' | 'unread'> {
    try {
      return await change.observe(input, latest, momentOf(asUnderway(request, item, { change }), now, timings), options)
    } catch (error) {
      if (error instanceof AccountLimitError) return 'skipped'
      onApiError(error)
      return 'unread'
    }
  }

  function itemStep(item: Underway, observation: Observation, now: number): ItemStep | undefined {
    const step = nextStep(item, observation, now, lateAfterMs)
    const ended = item.state === 'failed' || item.state === 'not-started'
    const name = step && (ended ? 'restart-item' : stepsOfItems[step.name])
    if (!step || !name) return undefined
    const { causes, trackedUntil, lastSeen } = step.set ?? {}
    return {
      name,
      set: {
        ...(causes && !ended ? { causes } : {}),
        ...(trackedUntil === undefined ? {} : { trackedUntil }),
        ...(lastSeen ? { lastSeen } : {}),
      },
    }
  }

  return observeItem
}
export type ObserveItem = ReturnType<typeof createObserveItem>

/** Returns an item in the terms of a request with a single change. */
export function asUnderway(request: Request, item: RequestItem, { change }: Pick<OpenedItem, 'change'>): Underway {
  const { state, sentAt, lateAt, trackedUntil } = item
  const asRequest = state === 'waiting' ? 'approved' : state
  return { id: request.id, kind: change.kind, state: asRequest, createdAt: request.createdAt, sentAt, lateAt, trackedUntil }
}
