import type { Underway } from '../../domain/request.ts'
import type { Sighting, Verdict } from '../../domain/verdict.ts'
import type { StepName } from '../steps.ts'
import type { StepData } from '../store/store.ts'

/** What was reported as not started (or as failed, where it may still happen) is observed for this long, and corrected if it starts late. */
export const watchMs = 15 * 60_000

/** A step to take. `isDueAgain`: the request is to be observed again, at its usual pace. */
export interface NextStep {
  name: StepName
  set?: StepData['set']
  isDueAgain?: true
}

/** The step that an observation of the account leads to, or nothing. */
export function nextStep(request: Underway, verdict: Verdict, now: number, lateAfterMs: number): NextStep | undefined {
  if (request.state === 'not-started' || request.state === 'failed') return correction(verdict)
  if (request.state !== 'starting' && request.state !== 'tracking') return undefined
  // It was reported as ended before, and has restarted.
  if (request.watchedUntil !== undefined) return correctedEnd(verdict) ?? lateStep(request, verdict, now, lateAfterMs)

  switch (verdict.is) {
    case 'done':
      return { name: 'finish' }
    case 'superseded':
      return { name: 'supersede', set: { why: verdict.why } }
    case 'failed':
      return failure(request, verdict, now)
    case 'not-started':
      return { name: 'not-start', set: { why: verdict.why, watchedUntil: now + watchMs }, isDueAgain: true }
    case 'underway':
      return request.state === 'starting' ? { name: 'accept', isDueAgain: true } : lateStep(request, verdict, now, lateAfterMs)
    case 'unclear':
      return lateStep(request, verdict, now, lateAfterMs)
  }
}

/** What failed before it was seen to begin has begun after all and left something behind, unless that was put right. */
function failure(request: Underway, { why, next, mayStillHappen, corrects }: Extract<Verdict, { is: 'failed' }>, now: number): NextStep {
  const name = request.state === 'starting' && !corrects ? 'fail-begun' : 'fail'
  const set = { why, ...(next === undefined ? {} : { next }) }
  return mayStillHappen ? { name, set: { ...set, watchedUntil: now + watchMs }, isDueAgain: true } : { name, set }
}

function lateStep(request: Underway, verdict: Verdict, now: number, lateAfterMs: number): NextStep | undefined {
  if (verdict.is !== 'underway' && verdict.is !== 'unclear') return undefined
  if (request.lateAt !== undefined || now - (request.sentAt ?? request.createdAt) < lateAfterMs) return undefined
  const seen: Sighting | undefined = verdict.seen
  return { name: 'late', ...(seen === undefined ? {} : { set: { lastSeen: seen } }), isDueAgain: true }
}

/** Something that was reported as not started or failed shows signs of life. */
function correction(verdict: Verdict): NextStep | undefined {
  if (verdict.is === 'underway') return { name: 'restart', isDueAgain: true }
  if (verdict.is === 'done') return { name: 'correct-to-done' }
  return verdict.is === 'failed' && verdict.corrects ? correctedEnd(verdict) : undefined
}

function correctedEnd(verdict: Verdict): NextStep | undefined {
  switch (verdict.is) {
    case 'done':
      return { name: 'correct-to-done' }
    case 'superseded':
      return { name: 'correct-to-superseded', set: { why: verdict.why } }
    case 'failed':
      return { name: 'correct-to-failed', set: { why: verdict.why, ...(verdict.next === undefined ? {} : { next: verdict.next }) } }
    case 'not-started':
      return { name: 'correct-to-not-started', set: { why: verdict.why } }
    default:
      return undefined
  }
}
