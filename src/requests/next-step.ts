import type { Observation } from '../domain/change.ts'
import type { Underway } from '../domain/request.ts'
import type { StepName } from './steps.ts'
import type { StepData } from './store.ts'

/** How long a request is tracked after it was reported as not started or failed, so that a late start is reported as a correction. */
export const trackEndedMs = 15 * 60_000

/** A step to take. `isDueAgain`: observe the request again, at its usual pace. */
interface NextStep {
  name: StepName
  set?: StepData['set']
  isDueAgain?: true
}

/** Returns the step that follows from an observation of the account, or undefined if none does. `now` is in ms since 1970. */
export function nextStep(request: Underway, observation: Observation, now: number, lateAfterMs: number): NextStep | undefined {
  if (request.state === 'not-started' || request.state === 'failed') return correction(observation)
  if (request.state !== 'starting' && request.state !== 'tracking') return undefined
  // Only a request that was reported as not started or failed has this time. It has started after all, so its end is a correction.
  if (request.trackedUntil !== undefined) return correctedEnd(observation) ?? lateStep(request, observation, now, lateAfterMs)

  switch (observation.is) {
    case 'done':
      return finish('finish', observation)
    case 'superseded':
      return { name: 'supersede', set: { causes: [observation.cause] } }
    case 'failed':
      return failure(request, observation, now)
    case 'not-started':
      return { name: 'not-start', set: { causes: [observation.cause], trackedUntil: now + trackEndedMs }, isDueAgain: true }
    case 'underway':
      return request.state === 'starting' ? { name: 'accept', isDueAgain: true } : lateStep(request, observation, now, lateAfterMs)
    case 'unclear':
      return lateStep(request, observation, now, lateAfterMs)
  }
}

/** Keeps the notes on the end. A correction also removes what the report before it named as the cause. */
function finish(name: 'finish' | 'correct-to-done', { notes = [] }: Extract<Observation, { is: 'done' }>): NextStep {
  return name === 'finish' && notes.length === 0 ? { name } : { name, set: { causes: notes } }
}

/** A change that failed before it was confirmed has left something on the account, unless the observation has corrected that. */
function failure(request: Underway, { cause, mayStillHappen, corrects }: Extract<Observation, { is: 'failed' }>, now: number): NextStep {
  const name = request.state === 'starting' && !corrects ? 'fail-begun' : 'fail'
  const set = { causes: [cause] }
  return mayStillHappen ? { name, set: { ...set, trackedUntil: now + trackEndedMs }, isDueAgain: true } : { name, set }
}

function lateStep(request: Underway, observation: Observation, now: number, lateAfterMs: number): NextStep | undefined {
  if (observation.is !== 'underway' && observation.is !== 'unclear') return undefined
  if (request.lateAt !== undefined || now - (request.sentAt ?? request.createdAt) < lateAfterMs) return undefined
  const { seen } = observation
  return { name: 'late', ...(seen === undefined ? {} : { set: { lastSeen: seen } }), isDueAgain: true }
}

/** Returns the step for a change that takes effect after it was reported as not started or failed. */
function correction(observation: Observation): NextStep | undefined {
  if (observation.is === 'underway') return { name: 'correct-to-tracking', isDueAgain: true }
  if (observation.is === 'done') return finish('correct-to-done', observation)
  return observation.is === 'failed' && observation.corrects ? correctedEnd(observation) : undefined
}

function correctedEnd(observation: Observation): NextStep | undefined {
  switch (observation.is) {
    case 'done':
      return finish('correct-to-done', observation)
    case 'superseded':
      return { name: 'correct-to-superseded', set: { causes: [observation.cause] } }
    case 'failed':
      return { name: 'correct-to-failed', set: { causes: [observation.cause] } }
    case 'not-started':
      return { name: 'correct-to-not-started', set: { causes: [observation.cause] } }
    default:
      return undefined
  }
}
