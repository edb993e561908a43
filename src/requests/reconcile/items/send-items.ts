import { setTimeout as pause } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { WriteTurns } from '../../../domain/account/lane.ts'
import type { AuthorityProblem } from '../../../domain/request/authority-problem.ts'
import type { Request } from '../../../domain/request/request.ts'
import type { Wake } from '../../../redis/queues.ts'
import type { CheckItems } from '../../access/check-authority.ts'
import type { CheckRecord } from '../../access/check-record.ts'
import type { Catalog, OpenedItem } from '../../catalog.ts'
import type { CommonFinding } from '../../messages/refusals/causes.ts'
import type { Store } from '../../store/store.ts'
import type { Distrust } from '../distrust.ts'
import { createItemReads } from './item-reads.ts'
import { createSendItem, isBeingSent, parallelWrites, type SendItemParts, skipItem } from './send-item.ts'

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
