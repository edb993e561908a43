import type { Request } from '../../../domain/request.ts'
import { isItemOpen, type RequestItem } from '../../../domain/request-item.ts'
import type { Catalog, OpenedItem } from '../../catalog.ts'
import type { ItemStepName } from '../../steps.ts'
import type { Store } from '../../store/store.ts'
import type { ItemStepData, StepResult } from '../../store/take-step.ts'

/** A step of an item that follows from its present state. */
export interface ItemStep extends Omit<ItemStepData, 'audit'> {
  name: ItemStepName
  answer?: ItemStepData['audit']['answer']
}

/** An item as it is now. */
export interface ItemNow {
  request: Request
  item: RequestItem
  opened: OpenedItem
}

/** Another process can take steps of other items at the same moment. Each time the record is read again. */
const mostTries = 30

interface ItemStepsParts {
  store: Pick<Store, 'find' | 'take' | 'takeItem' | 'now'>
  catalog: Catalog
  /** Shows that a request has ended. */
  show: (id: string) => Promise<void>
  /** How long a request is tracked on whose items were reported as not started or failed, in ms between two observations. */
  afterEndMs: number
}

/**
 * Creates the function that takes steps of items. The steps of one request wait for one another in this process, because each compares and
 * sets the whole record. The last one ends the request.
 */
export function createItemSteps({ store, catalog, show, afterEndMs }: ItemStepsParts) {
  const lastOf = new Map<string, Promise<unknown>>()

  /**
   * Takes the step that `decide` returns for the item as it is now, if any. Returns the outcome, or undefined if there was nothing to take.
   */
  function takeItemStep(requestId: string, itemId: string, decide: (now: ItemNow) => ItemStep | undefined) {
    return inTurn(requestId, () => tryStep(requestId, itemId, decide))
  }

  /** Ends a request whose items have all ended. Safe to repeat. */
  function endIfOver(requestId: string): Promise<void> {
    return inTurn(requestId, async () => {
      const request = await store.find(requestId)
      if (request) await end(request)
    })
  }

  async function tryStep(
    requestId: string,
    itemId: string,
    decide: (now: ItemNow) => ItemStep | undefined,
  ): Promise<StepResult['outcome'] | undefined> {
    for (let attempt = 0; attempt < mostTries; attempt += 1) {
      const found = await findItem(requestId, itemId)
      const step = found && decide(found)
      if (!found || !step) return undefined
      // Somebody stopped the tracking: nothing more is sent, and nothing is reported.
      if (found.request.state === 'untracked') return 'lost'
      const { name, answer, ...data } = step
      const { resource, facts, change } = found.opened
      const audit = { resource, facts, ...(answer ? { answer } : {}) }
      const { outcome } = await store.takeItem(found.request, found.item, name, {
        ...data,
        audit,
        kind: change.kind,
        at: await store.now(),
      })
      if (outcome === 'changed') continue
      if (outcome === 'won') await afterStep(requestId)
      return outcome
    }
    throw new Error(`request ${requestId} kept changing while a step of its item ${itemId} was taken`)
  }

  async function findItem(requestId: string, itemId: string): Promise<ItemNow | undefined> {
    const request = await store.find(requestId)
    const item = request?.items?.find(({ id }) => id === itemId)
    const whole = request && catalog.openIfFit(request)
    const opened = whole && catalog.itemsOf(whole).find(({ id }) => id === itemId)
    return request && item && opened ? { request, item, opened } : undefined
  }

  async function afterStep(requestId: string): Promise<void> {
    const request = await store.find(requestId)
    if (!request) return
    if (request.state === 'tracking') return end(request)
    // An item started after the end was reported. If this process ends here, the next step of the item does it.
    await store.take(request, 'correct-to-tracking', { dueInMs: 0 })
    await show(requestId)
    const again = await store.find(requestId)
    if (again) await end(again)
  }

  async function end(request: Request): Promise<void> {
    const { items } = request
    if (request.state !== 'tracking' || !items || items.some(isItemOpen)) return
    const isDone = items.every(({ state }) => state === 'done')
    const isCorrection = request.trackedUntil !== undefined
    const trackedUntil = Math.max(0, ...items.map((item) => item.trackedUntil ?? 0))
    const isTrackedOn = !isDone && trackedUntil > 0
    const name = isCorrection ? (isDone ? 'correct-to-done' : 'correct-to-failed') : isDone ? 'finish' : 'fail'
    await store.take(request, name, isTrackedOn ? { set: { trackedUntil }, dueInMs: afterEndMs } : {})
    await show(request.id)
  }

  /** Runs `work` after everything that was begun before for the same request. */
  async function inTurn<Result>(requestId: string, work: () => Promise<Result>): Promise<Result> {
    const before = lastOf.get(requestId) ?? Promise.resolve()
    const turn = before.then(work, work)
    lastOf.set(requestId, turn)
    try {
      return await turn
    } finally {
      if (lastOf.get(requestId) === turn) lastOf.delete(requestId)
    }
  }

  return { takeItemStep, endIfOver }
}
export type ItemSteps = ReturnType<typeof createItemSteps>
