import { setTimeout as pause } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { Audit } from '../../../audit/intake.ts'
import type { Finding } from '../../../domain/change/finding.ts'
import type { AuthorityProblem } from '../../../domain/request/authority-problem.ts'
import type { Request } from '../../../domain/request/request.ts'
import type { RequestItem } from '../../../domain/request/request-item.ts'
import type { Queues } from '../../../redis/queues.ts'
import type { CheckItems, ItemsAllowed } from '../../access/check-authority.ts'
import type { CheckRecord } from '../../access/check-record.ts'
import type { Catalog, OpenedItem } from '../../catalog.ts'
import type { NoteOf } from '../../store/request-note.ts'
import type { Store } from '../../store/store.ts'
import type { Distrust } from '../distrust.ts'
import { firstLookMs } from '../execute/request-outcomes.ts'
import { sendWrite } from '../execute/send-write.ts'
import { createItemReads, type ItemRead, readValidMs } from './item-reads.ts'
import type { ItemSteps } from './item-steps.ts'
import { createOutcomesOfItem } from './outcomes-of-item.ts'

/** The writes of one request that are under way at once. */
const parallelWrites = 5

/** How often an item tries to be sent while as many others are under way as may be. A lost answer counts as under way for 20 s. */
const fullRetry = { everyMs: 250, times: 80 }

/** When items are tried again that could not be read. */
const retryMs = 10_000

interface SendItemsParts {
  store: Store
  audit: Pick<Audit, 'note'>
  noteOf: NoteOf
  catalog: Catalog
  checkRecord: CheckRecord
  distrust: Distrust
  checkItems: CheckItems
  itemSteps: ItemSteps
  planLook: Queues['planLook']
  onApiError: (error: unknown) => void
  onDistrusted: (request: Request, problem: AuthorityProblem) => Promise<void> | void
}

/**
 * Creates the function that sends the writes of a request that has begun, a few at a time. Several processes may call it at once, and again after
 * a crash: only the process that takes the step of an item sends its write.
 */
export function createSendItems(parts: SendItemsParts) {
  const { store, audit, noteOf, catalog, checkRecord, distrust, checkItems, itemSteps, planLook, onApiError, onDistrusted } = parts
  const outcomesOf = createOutcomesOfItem({ itemSteps, audit, noteOf })
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
    const limit = pLimit(parallelWrites)
    const items = catalog.itemsOf(opened).filter((item) => waiting.has(item.id))
    const read = createItemReads({ beganAt, opened, waiting, now: store.now, onApiError })
    const sendNext = async (item: OpenedItem) => {
      for (let attempt = 0; attempt < fullRetry.times; attempt += 1) {
        const result = await read(item)
        waiting.delete(item.id)
        if ((await sendItem(request, item, allowed, result)) !== 'full') return
        waiting.add(item.id)
        await pause(fullRetry.everyMs)
      }
      await store.postpone([request.id], 0)
    }
    await Promise.all(items.map((item) => limit(() => sendNext(item))))
    await itemSteps.endIfOver(id)
    await planLook(firstLookMs)
  }

  /**
   * Ends items whose present content nobody allowed. Items that were signed with an unknown key wait for a deployment that brings the key.
   */
  async function refuse(request: Request, waiting: Set<string>, problem: AuthorityProblem): Promise<void> {
    const current = await store.find(request.id)
    if (current?.revision !== request.revision) return
    if (problem.code !== 'approved-too-long-ago') await onDistrusted(request, problem)
    if (problem.code === 'unknown-key') return store.postponeIfUnchanged(request, retryMs)
    for (const id of waiting) await skip(request.id, id, [problem])
  }

  /** Sends the write of an item that still waits. Returns `full` if it has to wait for others. */
  async function sendItem(request: Request, item: OpenedItem, { until, past }: ItemsAllowed, read: ItemRead): Promise<'full' | undefined> {
    const problem = past.get(item.id)
    if (problem) {
      // The audit has a signed note of its write or of its end. If it still waits, its state was put back. Otherwise another process has sent it
      // since the record was read.
      const now = await store.find(request.id)
      if (now?.items?.find(({ id }) => id === item.id)?.state !== 'waiting') return undefined
      await onDistrusted(request, problem)
      await skip(request.id, item.id, [problem])
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
    if (taken === 'outdated') await store.postpone([request.id], 0)
    if (taken !== 'won') return undefined
    const outcomes = outcomesOf(request, item)
    // This process may have been suspended after Redis took the step. Then the item may already have ended, so do not write.
    if (performance.now() - startedAt > readValidMs) await outcomes.notStart({ code: 'suspended' }, undefined)
    else await sendWrite(item, read.facts, outcomes, onApiError)
    return undefined
  }

  /** Ends an item that must not be sent, or leaves it for later if it could not be read. */
  async function leave(
    request: Request,
    { id }: OpenedItem,
    until: number,
    read: Exclude<ItemRead, { is: 'unchanged' }>,
  ): Promise<undefined> {
    if (read.is === 'unread' && (await store.now()) + retryMs < until) await store.postpone([request.id], retryMs)
    else await skip(request.id, id, read.is === 'changed' ? read.causes : [read.cause])
  }

  async function skip(requestId: string, itemId: string, causes: Finding[]) {
    return itemSteps.takeItemStep(requestId, itemId, ({ item: { state } }) =>
      state === 'waiting' ? { name: 'skip-item', set: { causes } } : undefined,
    )
  }

  return sendItems
}
export type SendItems = ReturnType<typeof createSendItems>

/** Whether the answer to the write of an item may still come. */
function isBeingSent({ state, sentAt = 0 }: RequestItem, now: number): boolean {
  return state === 'sending' && now - sentAt < readValidMs
}
