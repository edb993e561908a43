import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Observation } from '../../../src/domain/observation.ts'
import { isOpen, type Request } from '../../../src/domain/request.ts'
import { nextStep, trackEndedMs } from '../../../src/requests/reconcile/next-step.ts'
import { stepOf } from '../../../src/requests/steps.ts'
import { requestFor } from '../request-for-test.ts'
import { afterStep } from '../take-steps.ts'

const sentAt = 1_000_000
const lateAfterMs = 900_000

function request(state: Request['state'], more: Partial<Request> = {}): Request {
  return requestFor({ state, revision: 3, createdAt: sentAt - 60_000, expiresAt: sentAt + 60_000, sentAt, ...more })
}

/** What an observation can find. */
const gone = { code: 'elastic-ip-gone', address: '203.0.113.10' }

const everyObservation: Observation[] = [
  { is: 'done' },
  { is: 'superseded', cause: gone },
  { is: 'not-started', cause: gone },
  { is: 'underway' },
  { is: 'unclear' },
  ...[{}, { mayStillHappen: true as const }, { corrects: true as const }].map((more) => ({ is: 'failed' as const, cause: gone, ...more })),
]

/** The step that a observation leads to, with what the table says of it. */
function stepAfter(before: Request, observation: Observation, now: number) {
  const step = nextStep(before, observation, now, lateAfterMs)
  return step && { ...stepOf(step.name), ...step, to: afterStep(before.state, step.name) }
}

test.each([
  ['sent', request('starting')],
  ['tracked', request('tracking')],
  ['restarted', request('tracking', { trackedUntil: sentAt + trackEndedMs })],
  ['reported as not started', request('not-started', { trackedUntil: sentAt + trackEndedMs })],
  ['reported as failed', request('failed', { trackedUntil: sentAt + trackEndedMs })],
])('every observation on a request that was %s leads to a step that it can take, or to none', (_, before) => {
  const names = everyObservation.flatMap((observation) => stepAfter(before, observation, sentAt + lateAfterMs)?.name ?? [])
  expect(names.length).toBeGreaterThan(0)
})

test('whatever is observed in whatever order, one end is reported, later ones are corrections, and late is reported once', () => {
  const observations = fc.array(fc.tuple(fc.constantFrom(...everyObservation), fc.integer({ min: 1, max: lateAfterMs })), { maxLength: 12 })
  fc.assert(
    fc.property(observations, (observed) => {
      let current = request('starting')
      let now = sentAt
      const reported: string[] = []
      for (const [observation, afterMs] of observed) {
        now += afterMs
        if (!isOpen(current.state) && now > (current.trackedUntil ?? 0)) break
        const step = stepAfter(current, observation, now)
        if (!step) continue
        reported.push(...(step.reports ?? []))
        const stamped = Object.fromEntries((step.stamps ?? []).map((stamp) => [stamp, now]))
        current = { ...current, ...step.set, ...stamped, state: step.to }
        if (!step.isDueAgain) break
      }

      const ends = reported.filter((name) => name !== 'late' && name !== 'restarted')
      expect(ends).toEqual(ends.map((_, index) => (index === 0 ? 'ended' : 'corrected')))
      expect(reported.filter((name) => name === 'late').length).toBeLessThanOrEqual(1)
      expect(reported.indexOf('restarted')).not.toBe(0)
    }),
    { numRuns: 2_000 },
  )
})

describe('what a observation changes about a request', () => {
  test('a write without an answer that is seen to take effect is followed', () => {
    expect(stepAfter(request('starting'), { is: 'underway' }, sentAt + 5_000)).toMatchObject({
      name: 'accept',
      to: 'tracking',
    })
  })

  test('done is told once, with the end of the record', () => {
    expect(stepAfter(request('tracking'), { is: 'done' }, sentAt + 5_000)).toMatchObject({
      to: 'done',
      stamps: ['endedAt'],
      reports: ['ended'],
    })
  })

  test.each(['starting', 'tracking'] as const)('nothing is told while it is unclear and not late: %s', (state) => {
    expect(stepAfter(request(state), { is: 'unclear' }, sentAt + lateAfterMs - 1)).toBeUndefined()
  })

  test.each(['starting', 'tracking'] as const)('late is told once, and ends nothing: %s', (state) => {
    const step = stepAfter(request(state), { is: 'unclear' }, sentAt + lateAfterMs)
    expect(step).toMatchObject({ name: 'late', to: state, reports: ['late'], ifUnchanged: true })
    expect(stepAfter(request(state, { lateAt: sentAt + lateAfterMs }), { is: 'unclear' }, sentAt + lateAfterMs * 2)).toBeUndefined()
  })

  test('not started is told, and looked at for a while longer', () => {
    const now = sentAt + 61_000
    const step = stepAfter(request('starting'), { is: 'not-started', cause: gone }, now)
    expect(step).toMatchObject({
      to: 'not-started',
      reports: ['ended'],
      set: { causes: [gone], trackedUntil: now + trackEndedMs },
      isDueAgain: true,
    })
  })

  test('a failure that cannot mend itself is not watched', () => {
    const step = stepAfter(request('tracking'), { is: 'failed', cause: gone }, sentAt + 61_000)
    expect(step).toMatchObject({ to: 'failed', set: { causes: [gone] } })
    expect(step).not.toHaveProperty('isDueAgain')
  })

  test('a failure that is seen before anything was confirmed has left something to look at', () => {
    const step = stepAfter(request('starting'), { is: 'failed', cause: gone }, sentAt + 5_000)
    expect(step).toMatchObject({ to: 'failed', stamps: ['acceptedAt', 'endedAt'], reports: ['ended'] })
  })

  test('a failure that was put right has not', () => {
    const observation = { is: 'failed', cause: gone, corrects: true } as const
    const told = request('not-started', { trackedUntil: sentAt + trackEndedMs })
    expect(stepAfter(request('starting'), observation, sentAt + 5_000)).toMatchObject({ to: 'failed', stamps: ['endedAt'] })
    expect(stepAfter(told, observation, sentAt + 90_000)).toMatchObject({ name: 'correct-to-failed', stamps: ['endedAt'] })
  })

  test('a failure keeps the time at which it was accepted', () => {
    const step = stepAfter(request('tracking'), { is: 'failed', cause: gone }, sentAt + 5_000)
    expect(step).toMatchObject({ to: 'failed', stamps: ['endedAt'] })
  })

  test('what was told as not started and starts late is corrected', () => {
    const told = request('not-started', { trackedUntil: sentAt + trackEndedMs })
    expect(stepAfter(told, { is: 'underway' }, sentAt + 90_000)).toMatchObject({
      name: 'restart',
      to: 'tracking',
      stamps: ['acceptedAt'],
      reports: ['restarted'],
    })
    expect(stepAfter(told, { is: 'done' }, sentAt + 90_000)).toMatchObject({
      name: 'correct-to-done',
      to: 'done',
      reports: ['corrected'],
    })
    expect(stepAfter(told, { is: 'not-started', cause: gone }, sentAt + 90_000)).toBeUndefined()
  })

  test('a correction that ends is told as a correction, and watched no more', () => {
    const restarted = request('tracking', { trackedUntil: sentAt + trackEndedMs })
    const step = stepAfter(restarted, { is: 'failed', cause: gone, mayStillHappen: true }, sentAt + 120_000)
    expect(step).toMatchObject({ name: 'correct-to-failed', to: 'failed', reports: ['corrected'] })
    expect(step).not.toHaveProperty('isDueAgain')
  })
})
