import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { AuditNote } from '../../audit/entry.ts'
import { StoreUnavailableError } from '../../domain/errors/errors.ts'
import type { Request } from '../../domain/request/request.ts'
import type { Store } from '../store/store.ts'

/** The wait before the step is sent again. */
const retryMs = 250

/** The facts that the audit notes about a shown secret. */
export type ShownResult = Pick<AuditNote, 'answer' | 'resourceId'>

/** The time from which another process may make the secret worthless: in ms since 1970 by Redis' clock, and in ms of `performance.now()`. */
export interface RecordDeadline {
  byRedis: number
  here: number
}

/**
 * Ends a request whose secret was shown. The requester may use the secret now, so the same step is sent until Redis answers or the deadline
 * passes. `too-late`: another process makes it worthless. Throws StoreUnavailableError if it stays unknown whether Redis took the step.
 */
export async function recordShown(
  store: Store,
  request: Request,
  result: ShownResult,
  deadline: RecordDeadline,
): Promise<'recorded' | 'too-late'> {
  const token = randomUUID()
  const data = { notAfter: deadline.byRedis, audit: result }
  while (true) {
    try {
      const { outcome } = await store.take(request, 'finish', data, token)
      return outcome === 'won' ? 'recorded' : 'too-late'
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || performance.now() >= deadline.here) throw error
      await delay(retryMs)
    }
  }
}
