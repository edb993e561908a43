import type { App } from '../app.ts'
import { alertsRequester } from '../domain/approval.ts'
import type { Request } from '../domain/request.ts'
import type { CommonFinding } from '../messages/refusals.ts'
import { type StepName, stepOf } from './steps.ts'

/** Items of a request take steps at the same moment, a few a second. Each time another step was first, the record is read again. */
const mostTries = 20

/**
 * Ends a request whose alert has resolved. One that waits for approval is withdrawn. The thread of one that was approved says so, and the change
 * goes on, or stays as it ended. Nothing happens to one that was never approved. `token`: the same for all tries of one end, so that the thread says
 * it once. Throws if the record keeps changing.
 */
export async function resolveAlert(app: App, requestId: string, token: string): Promise<void> {
  for (let attempt = 0; attempt < mostTries; attempt += 1) {
    const request = await app.store.find(requestId)
    const step = request && stepFor(request)
    if (!step) return
    const set = step === 'withdraw-resolved' ? { causes: [{ code: 'alert-resolved' } satisfies CommonFinding] } : {}
    const { outcome } = await app.store.take(request, step, { set, audit: { by: alertsRequester } }, token)
    // The outbox shows it later if this fails.
    if (outcome === 'won') return void (await app.show(requestId).catch(app.errors.of('alerts')))
  }
  throw new Error(`request ${requestId} kept changing while its alert resolved`)
}
export type ResolveAlert = (requestId: string, token: string) => Promise<void>

function stepFor({ state }: Request): StepName | undefined {
  if (state === 'waiting') return 'withdraw-resolved'
  return stepOf('note-resolved').from.some((each) => each === state) ? 'note-resolved' : undefined
}
