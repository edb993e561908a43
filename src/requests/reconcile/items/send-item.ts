import type { Audit } from '../../../audit/intake.ts'
import { withTurnTaken } from '../../../domain/account/lane.ts'
import type { Finding } from '../../../domain/change/finding.ts'
import type { AuthorityProblem } from '../../../domain/request/authority-problem.ts'
import type { Request } from '../../../domain/request/request.ts'
import type { RequestItem } from '../../../domain/request/request-item.ts'
import type { ItemsAllowed } from '../../access/check-authority.ts'
import type { OpenedItem } from '../../catalog.ts'
import type { CommonFinding } from '../../messages/refusals/causes.ts'
import type { NoteOf } from '../../store/request-note.ts'
import type { Store } from '../../store/store.ts'
import { sendWrite } from '../execute/send-write.ts'
import { type ItemRead, readValidMs } from './item-reads.ts'
import type { ItemSteps } from './item-steps.ts'
import { createOutcomesOfItem } from './outcomes-of-item.ts'

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
