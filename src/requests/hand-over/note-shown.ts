import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { AuditNote } from '../../audit/entry.ts'
import { StoreUnavailableError } from '../../domain/errors.ts'
import type { Request } from '../../domain/request.ts'
import type { Store } from '../store/store.ts'

/** How long after one that was not answered the step is sent again. */
const againMs = 250

/** What the audit notes of a secret that was shown. */
export type ShownResult = Pick<AuditNote, 'answer' | 'resourceId'>

/** When somebody else may take back what was shown, in ms since 1970 by Redis' clock and in ms of `performance.now()`. */
export interface TakenBackFrom {
  byRedis: number
  here: number
}

/**
 * Ends a request whose secret was shown. Somebody has it in hand, and may use it: so one step is sent until Redis answers, or until
 * somebody else may take the secret back, and tells how it ended. Throws StoreUnavailableError when it is not known what became of it.
 */
export async function noteShown(
  store: Store,
  request: Request,
  result: ShownResult,
  takenBackFrom: TakenBackFrom,
): Promise<'noted' | 'too-late'> {
  const token = randomUUID()
  const data = { notAfter: takenBackFrom.byRedis, audit: result }
  while (true) {
    try {
      const { outcome } = await store.take(request, 'finish', data, token)
      return outcome === 'won' ? 'noted' : 'too-late'
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || performance.now() >= takenBackFrom.here) throw error
      await delay(againMs)
    }
  }
}
