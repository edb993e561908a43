import type { Request } from '../../../domain/request/request.ts'
import { isItemOpen, type RequestItem } from '../../../domain/request/request-item.ts'
import type { CheckRecord } from '../../access/check-record.ts'
import type { Catalog, OpenedItem } from '../../catalog.ts'
import type { ItemStepName } from '../../steps.ts'
import type { StepResult } from '../../store/step-data.ts'
import type { Store } from '../../store/store.ts'
import type { ItemStepData } from '../../store/take-item.ts'
import type { Distrust } from '../distrust.ts'
import { createTurns, type Turn } from './turns.ts'

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
  checkRecord: CheckRecord
  distrust: Distrust
  /** Shows that a request has ended. */
  show: (id: string) => Promise<void>
  /** How long a request is tracked on whose items were reported as not started or failed, in ms between two observations. */
  afterEndMs: number
}

/**
 * Creates the function that takes steps of items. The steps of one request wait for one another in this process, because each compares and
 * sets the whole record. The last one ends the request.
 */
export function createItemSteps({ store, catalog, checkRecord, distrust, show, afterEndMs }: ItemStepsParts) {
  const inTurn = createTurns<Known>()

  /**
   * Takes the step that `decide` returns for the item as it is now, if any. Returns the outcome, or undefined if there was nothing to take.
   */
  function takeItemStep(requestId: string, itemId: string, decide: (now: ItemNow) => ItemStep | undefined) {
    return inTurn(requestId, (turn) => tryStep(turn, requestId, itemId, decide))
  }

  /** Ends a request whose items have all ended. Safe to repeat. */
  function endIfOver(requestId: string): Promise<void> {
    return inTurn(requestId, async () => {
      const request = await findChecked(requestId)
      if (request) await end(request)
    })
  }

  async function tryStep(
    turn: Turn<Known>,
    requestId: string,
    itemId: string,
    decide: (now: ItemNow) => ItemStep | undefined,
  ): Promise<StepResult['outcome'] | undefined> {
    for (let attempt = 0; attempt < mostTries; attempt += 1) {
      const known = turn.known ?? (await readRecord(requestId))
      turn.known = undefined
      const found = known && itemIn(known, itemId)
      const step = found && decide(found)
      if (!found || !step) return undefined
      // Somebody stopped the tracking, so no more writes are sent and nothing is reported.
      if (found.request.state === 'untracked') return 'lost'
      const { name, answer, ...data } = step
      const { resource, facts, change } = found.opened
      const audit = { resource, facts, ...(answer ? { answer } : {}) }
      const { outcome, request } = await store.takeItem(found.request, found.item, name, {
        ...data,
        audit,
        kind: change.kind,
        at: await store.now(),
      })
      if (outcome === 'changed') continue
      if (request) turn.known = await afterStep({ ...known, request })
      return outcome
    }
    throw new Error(`request ${requestId} kept changing while a step of its item ${itemId} was taken`)
  }

  async function readRecord(requestId: string): Promise<Known | undefined> {
    const request = await findChecked(requestId)
    const whole = request && catalog.openIfFit(request)
    return whole && { request, opened: new Map(catalog.itemsOf(whole).map((item) => [item.id, item])) }
  }

  /** Reads a record whose steps may be taken. What the audit notes of them comes from it, with a signature. */
  async function findChecked(requestId: string): Promise<Request | undefined> {
    const request = await store.find(requestId)
    const problem = request && checkRecord(request)
    if (problem) await distrust(request, problem)
    return problem ? undefined : request
  }

  /** Returns what is still known after a step and what it leads to. */
  async function afterStep(known: Known): Promise<Known | undefined> {
    const { request } = known
    if (request.state === 'tracking') {
      await end(request)
      return request.items?.some(isItemOpen) ? known : undefined
    }
    // An item started after the end was reported. If this process ends here, the next step of the item does it.
    await store.take(request, 'correct-to-tracking', { dueInMs: 0 })
    await show(request.id)
    const again = await findChecked(request.id)
    if (again) await end(again)
    return undefined
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

  return { takeItemStep, endIfOver }
}
export type ItemSteps = ReturnType<typeof createItemSteps>

/**
 * A record as this process read or wrote it last. Each step leaves it for the next, which reads it only if another process changed it. Its facts do
 * not change any more, so they are parsed once.
 */
interface Known {
  request: Request
  opened: Map<string, OpenedItem>
}

function itemIn({ request, opened }: Known, itemId: string): ItemNow | undefined {
  const item = request.items?.find(({ id }) => id === itemId)
  const one = opened.get(itemId)
  return item && one && { request, item, opened: one }
}
