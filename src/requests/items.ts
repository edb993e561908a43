import { setTimeout as pause } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { Audit } from '../audit/audit.ts'
import type { ApiAnswer } from '../audit/chain.ts'
import type { Finding, Observation, ObserveOptions } from '../domain/change.ts'
import { AccountLimitError } from '../domain/errors.ts'
import { type WriteTurns, withTurnTaken } from '../domain/lane.ts'
import { type AuthorityProblem, isItemOpen, isItemUnderway, type Request, type RequestItem, type Underway } from '../domain/request.ts'
import type { Timings } from '../domain/timings.ts'
import type { CommonFinding } from '../messages/refusals.ts'
import type { Wake } from '../redis/queues.ts'
import type { CheckItems, CheckRecord, Distrust, ItemsAllowed } from './authority.ts'
import type { Catalog, Opened, OpenedItem } from './catalog.ts'
import { nextStep } from './next-step.ts'
import { momentOf, type Observed } from './observe.ts'
import { type PreflightResult, readAgain, repeatPreflight, sendWrite, type WriteOutcomes, withAnswer } from './send.ts'
import type { ItemStepName, StepName } from './steps.ts'
import type { ItemStepData, NoteOf, StepResult, Store } from './store.ts'

/** An item that was read within this time is not read again. */
const freshMs = 10_000

/** How long a read allows a write, as for a single change. Redis may not answer between the two. */
export const readValidMs = 20_000

/** The read of an item, and the latest time for a write that depends on it, in ms by Redis' clock. */
export type ItemRead = PreflightResult & { notAfter: number }

/** One read of all items that wait. Times are in ms by Redis' clock. */
interface Reading {
  startedAt: number
  /** Returns undefined for an item that was not read. */
  of(item: OpenedItem): PreflightResult | undefined
}

interface ItemReadsParts {
  /** When this process read the items before it began the request. Undefined if another process or an earlier pass did: all are read again. */
  beganAt: number | undefined
  opened: Opened
  /** The items that are not sent yet. */
  waiting: ReadonlySet<string>
  now: () => Promise<number>
  onApiError: (error: unknown) => void
}

/**
 * Creates the reads of one pass over the items of a request. All items that wait are read together, and one reading serves all that are sent within
 * 10 s of it.
 */
export function createItemReads({ beganAt, opened, waiting, now, onApiError }: ItemReadsParts) {
  let last = Promise.resolve(readBefore(beganAt, opened))

  async function read(item: OpenedItem): Promise<ItemRead> {
    const at = await now()
    const known = last
    if (at - (await known).startedAt > freshMs && last === known) {
      last = readAll(at)
      // The next item tries again.
      last.catch(() => (last = known))
    }
    const reading = await last
    const result = reading.of(item)
    if (result) return { ...result, notAfter: reading.startedAt + readValidMs }
    return { ...(await repeatPreflight(item, onApiError)), notAfter: at + readValidMs }
  }

  async function readAll(startedAt: number): Promise<Reading> {
    const { change, input, facts } = opened
    if (!change.items) throw new Error(`${change.kind} has no items`)
    const result = await readAgain({ change, input: change.items.narrow(input, [...waiting]), facts }, onApiError)
    if (result.is !== 'unchanged') return { startedAt, of: () => result }
    const latest = change.complete?.(facts, result.facts) ?? result.facts
    return { startedAt, of: comparing({ change, facts, latest }) }
  }

  return read
}

/** The reads before the first write, which the record keeps. */
function readBefore(beganAt = 0, opened: Opened): Reading {
  return { startedAt: beganAt, of: comparing(opened) }
}

/** Compares each item with what was approved. */
function comparing({ change: { items }, facts, latest }: Pick<Opened, 'change' | 'facts' | 'latest'>): Reading['of'] {
  const leftOut = items?.leftOut(facts, latest)
  const read = new Map(items?.of(latest).map((item) => [item.id, item.facts]))
  return ({ id }) => {
    const causes = leftOut?.get(id)
    if (causes) return { is: 'changed', causes }
    return read.has(id) ? { is: 'unchanged', facts: read.get(id) } : undefined
  }
}

/** What the work for one request leaves for the work after it. */
export interface Turn<Known> {
  known?: Known | undefined
}

/** Creates the function that runs the work for one request one after another in this process. */
export function createTurns<Known>() {
  const turns = new Map<string, { last: Promise<unknown>; turn: Turn<Known> }>()

  /** Runs `work` after all work that was begun before for the same request. */
  return async function inTurn<Result>(requestId: string, work: (turn: Turn<Known>) => Promise<Result>): Promise<Result> {
    const queue = turns.get(requestId) ?? { last: Promise.resolve(), turn: {} }
    turns.set(requestId, queue)
    const next = () => work(queue.turn)
    const own = queue.last.then(next, next)
    queue.last = own
    try {
      return await own
    } finally {
      if (queue.last === own) turns.delete(requestId)
    }
  }
}

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
        trackedUntil,
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

interface OutcomesOfItemParts {
  itemSteps: ItemSteps
  audit: Pick<Audit, 'note'>
  noteOf: NoteOf
}

/** Creates the function that returns how the outcomes of an item's one write are recorded. */
export function createOutcomesOfItem({ itemSteps, audit, noteOf }: OutcomesOfItemParts) {
  return function outcomesOf(request: Request, { id, resource, facts }: OpenedItem): WriteOutcomes {
    const note = (answer: ApiAnswer | undefined) =>
      audit.note(noteOf(request, 'answer', { item: id, resource, facts, ...withAnswer(answer) }))
    async function take(step: ItemStep, answer: ApiAnswer | undefined): Promise<void> {
      const taken = await itemSteps.takeItemStep(request.id, id, () => ({ ...step, ...withAnswer(answer) }))
      // A record that was changed in the meantime gets no step, but the audit must still show the answer to the write that was sent.
      if (taken === undefined) await note(answer)
    }
    return {
      finish: (answer) => take({ name: 'finish-item' }, answer),
      accept: (answer) => take({ name: 'accept-item' }, answer),
      fail: (cause, answer) => take({ name: 'fail-item', set: { causes: [cause] } }, answer),
      notStart: (cause, answer) => take({ name: 'not-start-item', set: { causes: [cause] } }, answer),
      limited: (_, answer) => take({ name: 'limit-item' }, answer),
      unclear: note,
    }
  }
}

/** The writes of one request that are under way at once. */
export const parallelWrites = 5

/** When items are tried again that could not be read. */
const retryUnreadMs = 10_000

export interface SendItemParts {
  store: Pick<Store, 'find' | 'now' | 'postpone'>
  audit: Pick<Audit, 'note'>
  noteOf: NoteOf
  itemSteps: ItemSteps
  onApiError: (error: unknown) => void
  onDistrusted: (request: Request, problem: AuthorityProblem) => Promise<void> | void
}

/**
 * Creates the function that sends the write of an item that still waits, or ends the item without one. It returns `full` if the item has to wait
 * for others.
 */
export function createSendItem({ store, audit, noteOf, itemSteps, onApiError, onDistrusted }: SendItemParts) {
  const outcomesOf = createOutcomesOfItem({ itemSteps, audit, noteOf })

  async function sendItem(request: Request, item: OpenedItem, { until, past }: ItemsAllowed, read: ItemRead): Promise<'full' | undefined> {
    const problem = past.get(item.id)
    if (problem) {
      // The audit has a signed note of its write or of its end. If it still waits, its state was put back. Otherwise another process has sent it
      // since the record was read.
      const now = await store.find(request.id)
      if (now?.items?.find(({ id }) => id === item.id)?.state !== 'waiting') return undefined
      await onDistrusted(request, problem)
      await skipItem(itemSteps, request.id, item.id, [problem])
      return undefined
    }
    if (read.is !== 'unchanged') return leave(request, item, until, read)
    const startedAt = performance.now()
    const now = await store.now()
    let isFull = false
    const taken = await itemSteps.takeItemStep(request.id, item.id, ({ item: { state }, request: { items = [] } }) => {
      // Another process may be sending other items of the request.
      isFull = state === 'waiting' && items.filter((each) => isBeingSent(each, now)).length >= parallelWrites
      return state === 'waiting' && !isFull ? { name: 'send-item', notAfter: Math.min(read.notAfter, until) } : undefined
    })
    if (isFull) return 'full'
    if (taken === 'outdated') await store.postpone(request.id, 0)
    if (taken !== 'won') return undefined
    const outcomes = outcomesOf(request, item)
    // This process may have been suspended after Redis took the step. Then the item may already have ended, so do not write.
    if (performance.now() - startedAt > readValidMs) await outcomes.notStart({ code: 'suspended' }, undefined)
    else await withTurnTaken('bundle', () => sendWrite(item, read.facts, outcomes, onApiError))
    return undefined
  }

  /** Ends an item that must not be sent, or leaves it for later if it could not be read. */
  async function leave(
    request: Request,
    { id }: OpenedItem,
    until: number,
    read: Exclude<ItemRead, { is: 'unchanged' }>,
  ): Promise<undefined> {
    const retryMs = read.is === 'limited' ? read.waitMs : retryUnreadMs
    if ((read.is === 'unread' || read.is === 'limited') && (await store.now()) + retryMs < until)
      return void (await store.postpone(request.id, retryMs))
    await skipItem(itemSteps, request.id, id, causesOf(read))
  }

  return sendItem
}

function causesOf(read: Exclude<ItemRead, { is: 'unchanged' }>): Finding[] {
  if (read.is === 'changed') return read.causes
  return [read.is === 'limited' ? ({ code: 'limit-used-up' } satisfies CommonFinding) : read.cause]
}

/** Ends an item that still waits, without a write. */
export function skipItem(itemSteps: ItemSteps, requestId: string, itemId: string, causes: Finding[]) {
  return itemSteps.takeItemStep(requestId, itemId, ({ item: { state } }) =>
    state === 'waiting' ? { name: 'skip-item', set: { causes } } : undefined,
  )
}

/** Whether the answer to the write of an item may still come. */
export function isBeingSent({ state, sentAt = 0 }: RequestItem, now: number): boolean {
  return state === 'starting' && now - sentAt < readValidMs
}

/** How often an item tries to be sent while as many others are under way as may be. Then the next tick goes on, which also reads lost answers. */
const fullRetry = { everyMs: 250, times: 8 }

/** When items are tried again that were signed with an unknown key. */
const retryUnknownKeyMs = 10_000

interface SendItemsParts extends SendItemParts {
  store: Store
  catalog: Catalog
  checkRecord: CheckRecord
  distrust: Distrust
  checkItems: CheckItems
  budget: WriteTurns
  wake: Wake
}

/**
 * Creates the function that sends the writes of a request that has begun, a few at a time. Several processes may call it at once, and again after
 * a crash: only the process that takes the step of an item sends its write.
 */
export function createSendItems(parts: SendItemsParts) {
  const { store, catalog, checkRecord, distrust, checkItems, itemSteps, budget, wake, onApiError, onDistrusted } = parts
  const sendItem = createSendItem(parts)
  const running = new Map<string, Promise<void>>()

  /**
   * In this process, all calls for one request share one pass over its items. `beganAt`: when this process read the items and took the step that
   * begins the request, in ms by Redis' clock. It is not taken from the record, where somebody could make old reads look fresh.
   */
  function sendItems(id: string, beganAt?: number): Promise<void> {
    const pass = running.get(id) ?? sendAll(id, beganAt).finally(() => running.delete(id))
    running.set(id, pass)
    return pass
  }

  async function sendAll(id: string, beganAt: number | undefined): Promise<void> {
    const request = await store.find(id)
    const opened = request && catalog.openIfFit(request)
    if (!request || !opened) return
    const doubt = checkRecord(request)
    if (doubt) return distrust(request, doubt)
    const waiting = new Set(request.items?.filter(({ state }) => state === 'waiting').map((item) => item.id))
    if (waiting.size === 0) return itemSteps.endIfOver(id)
    const allowed = await checkItems(request, await store.now())
    if ('code' in allowed) return refuse(request, waiting, allowed)
    // Without a turn, the reads would be in vain.
    let waitMs = await budget.waitForWrite('bundle', id)
    if (waitMs > 0) return waitForTurn(request, waiting, { waitMs, until: allowed.until })
    const limit = pLimit(parallelWrites)
    const items = catalog.itemsOf(opened).filter((item) => waiting.has(item.id))
    const read = createItemReads({ beganAt, opened, waiting, now: store.now, onApiError })
    const sendNext = async (item: OpenedItem) => {
      let hasTurn = false
      for (let attempt = 0; attempt < fullRetry.times && waitMs === 0; attempt += 1) {
        if (await isFull(id)) {
          await pause(fullRetry.everyMs)
          continue
        }
        const result = await read(item)
        // Only what is sent now needs a turn: while nothing can be read, the turns are for others.
        if (result.is === 'unchanged' && !hasTurn) {
          waitMs = Math.max(waitMs, await budget.takeWrite('bundle', id))
          if (waitMs > 0) return
          hasTurn = true
        }
        waiting.delete(item.id)
        if ((await sendItem(request, item, allowed, result)) !== 'full') return
        waiting.add(item.id)
      }
      if (waitMs === 0) await store.postpone(request.id, 0)
    }
    await Promise.all(items.map((item) => limit(() => sendNext(item))))
    if (waitMs > 0) return waitForTurn(request, waiting, { waitMs, until: allowed.until })
    await itemSteps.endIfOver(id)
  }

  /** Whether as many writes of the request are under way as may be. Another process may be sending other items. */
  async function isFull(id: string): Promise<boolean> {
    const [now, found] = await Promise.all([store.now(), store.find(id)])
    return (found?.items ?? []).filter((item) => isBeingSent(item, now)).length >= parallelWrites
  }

  /** Sends the rest at its turn, if the approval holds until then. */
  async function waitForTurn(request: Request, waiting: Set<string>, { waitMs, until }: { waitMs: number; until: number }): Promise<void> {
    if ((await store.now()) + waitMs >= until) {
      for (const id of waiting) await skipItem(itemSteps, request.id, id, [{ code: 'limit-used-up' } satisfies CommonFinding])
      return itemSteps.endIfOver(request.id)
    }
    await store.postpone(request.id, waitMs)
    await wake(request, waitMs + 20)
  }

  /**
   * Ends items whose present content nobody allowed. Items that were signed with an unknown key wait for a deployment that brings the key.
   */
  async function refuse(request: Request, waiting: Set<string>, problem: AuthorityProblem): Promise<void> {
    const current = await store.find(request.id)
    if (current?.revision !== request.revision) return
    if (problem.code !== 'approved-too-long-ago') await onDistrusted(request, problem)
    if (problem.code === 'unknown-key') return store.postponeIfUnchanged(request, retryUnknownKeyMs)
    for (const id of waiting) await skipItem(itemSteps, request.id, id, [problem])
  }

  return sendItems
}
export type SendItems = ReturnType<typeof createSendItems>
