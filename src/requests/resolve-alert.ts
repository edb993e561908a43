import { alertsRequester } from '../domain/approval.ts'
import type { Request } from '../domain/request.ts'
import type { CommonFinding } from '../messages/refusals.ts'
import type { Show } from '../outbox/outbox.ts'
import { type StepName, stepOf } from './steps.ts'
import type { Store } from './store.ts'

/** Items of a request take steps at the same moment, a few a second. Each time another step was first, the record is read again. */
const mostTries = 20

interface ResolveAlertParts {
  store: Pick<Store, 'find' | 'take'>
  show: Show
  /** Receives a failure to show the step at once. The outbox shows it later. */
  onError: (error: unknown) => void
}

/**
 * Creates the end of a request whose alert has resolved. One that waits for approval is withdrawn. The thread of one that was approved says so,
 * and the change goes on, or stays as it ended. Nothing happens to one that was never approved.
 */
export function createResolveAlert({ store, show, onError }: ResolveAlertParts) {
  /** `token`: the same for all tries of one end, so that the thread says it once. Throws if the record keeps changing. */
  return async function resolveAlert(requestId: string, token: string): Promise<void> {
    for (let attempt = 0; attempt < mostTries; attempt += 1) {
      const request = await store.find(requestId)
      if (!request) return
      const taken = await takeFor(request, token)
      if (taken === 'nothing') return
      if (taken === 'won') return void (await show(requestId).catch(onError))
    }
    throw new Error(`request ${requestId} kept changing while its alert resolved`)
  }

  async function takeFor(request: Request, token: string): Promise<'won' | 'lost' | 'nothing'> {
    const step = stepFor(request)
    if (step === undefined) return 'nothing'
    const set = step === 'withdraw-resolved' ? { causes: [{ code: 'alert-resolved' } satisfies CommonFinding] } : {}
    const { outcome } = await store.take(request, step, { set, audit: { by: alertsRequester } }, token)
    return outcome === 'won' ? 'won' : 'lost'
  }
}
export type ResolveAlert = ReturnType<typeof createResolveAlert>

function stepFor({ state }: Request): StepName | undefined {
  if (state === 'waiting') return 'withdraw-resolved'
  return stepOf('note-resolved').from.some((each) => each === state) ? 'note-resolved' : undefined
}
