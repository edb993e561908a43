import type { Observation } from '../domain/change.ts'
import type { Underway } from '../domain/request.ts'
import type { StepName } from '../record/steps.ts'
import type { StepData } from '../record/store.ts'

/** A step to take. `isDueAgain`: observe the request again, at its usual pace. */
interface NextStep {
  name: StepName
  set?: StepData['set']
  isDueAgain?: true
}

/** Reads of the account may be behind its writes, and two this far apart are not both. */
const betweenLooksMs = 20_000

/** `revertedSince`: the first of the looks without an effect since the account last showed that the change takes effect, in ms since 1970. */
type Observed = Underway & { revertedSince?: number | undefined }

/**
 * Returns the step that follows from an observation of the account, or undefined if none does. `now` is in ms since 1970. `apartMs`: how far
 * apart two looks without an effect must be that end what the account accepted.
 */
export function nextStep(
  request: Observed,
  observation: Observation,
  now: number,
  lateAfterMs: number,
  apartMs = betweenLooksMs,
): NextStep | undefined {
  if (request.state !== 'starting' && request.state !== 'tracking') return undefined
  switch (observation.is) {
    case 'done':
      return observation.notes?.length ? { name: 'finish', set: { causes: observation.notes } } : { name: 'finish' }
    case 'superseded':
      return { name: 'supersede', set: { causes: [observation.cause] } }
    case 'failed':
      // What failed before it was confirmed has left something on the account, unless the observation has removed that.
      return {
        name: request.state === 'starting' && !observation.corrects ? 'fail-begun' : 'fail',
        set: { causes: [observation.cause] },
      }
    case 'not-started':
      return { name: 'not-start', set: { causes: [observation.cause] } }
    case 'reverted':
      if (now - (request.revertedSince ?? now) >= apartMs) return { name: 'fail', set: { causes: [observation.cause] } }
      break
    case 'underway':
      if (request.state === 'starting') return { name: 'accept', isDueAgain: true }
  }
  if (request.lateAt !== undefined || now - (request.sentAt ?? request.createdAt) < lateAfterMs) return undefined
  return { name: 'late', ...(observation.seen ? { set: { lastSeen: observation.seen } } : {}), isDueAgain: true }
}
