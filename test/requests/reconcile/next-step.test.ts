import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Observation } from '../../../src/domain/change.ts'
import { isOpen, type Request } from '../../../src/domain/request.ts'
import { nextStep } from '../../../src/requests/next-step.ts'
import { stepOf } from '../../../src/requests/steps.ts'
import { requestFor } from '../request-for-test.ts'
import { afterStep } from '../take-steps.ts'

const sentAt = 1_000_000
const lateAfterMs = 900_000

function request(state: Request['state'], more: Partial<Request> = {}): Request {
  return requestFor({ state, revision: 3, createdAt: sentAt - 60_000, expiresAt: sentAt + 60_000, sentAt, ...more })
}

/** A cause that an observation can have. */
const gone = { code: 'elastic-ip-gone', address: '203.0.113.10' }

const everyObservation: Observation[] = [
  { is: 'done' },
  { is: 'superseded', cause: gone },
  { is: 'not-started', cause: gone },
  { is: 'underway' },
  { is: 'unclear' },
  ...[{}, { corrects: true as const }].map((more) => ({ is: 'failed' as const, cause: gone, ...more })),
]

/** The step that follows from an observation, with its fields from the table of steps. */
function stepAfter(before: Request, observation: Observation, now: number) {
  const step = nextStep(before, observation, now, lateAfterMs)
  return step && { ...stepOf(step.name), ...step, to: afterStep(before.state, step.name) }
}

test.each([
  ['sent', request('starting')],
  ['tracked', request('tracking')],
])('every observation of a request that was %s leads to an allowed step or to none', (_, before) => {
  const names = everyObservation.flatMap((observation) => stepAfter(before, observation, sentAt + lateAfterMs)?.name ?? [])
  expect(names.length).toBeGreaterThan(0)
})

test('in any order of observations, one end is reported, and nothing after it; late is reported once', () => {
  const observations = fc.array(fc.tuple(fc.constantFrom(...everyObservation), fc.integer({ min: 1, max: lateAfterMs })), { maxLength: 12 })
  fc.assert(
    fc.property(observations, (observed) => {
      let current = request('starting')
      let now = sentAt
      const reported: string[] = []
      for (const [observation, afterMs] of observed) {
        now += afterMs
        const step = stepAfter(current, observation, now)
        if (!step) continue
        reported.push(...(step.reports ?? []))
        const stamped = Object.fromEntries((step.stamps ?? []).map((stamp) => [stamp, now]))
        current = { ...current, ...step.set, ...stamped, state: step.to }
        expect(step.isDueAgain ?? false).toBe(isOpen(current.state))
      }

      expect(reported.filter((name) => name === 'ended')).toHaveLength(isOpen(current.state) ? 0 : 1)
      expect(reported.filter((name) => name === 'late').length).toBeLessThanOrEqual(1)
      expect(['ended', undefined].includes(reported.at(-1)) || isOpen(current.state)).toBe(true)
    }),
    { numRuns: 2_000 },
  )
})

test('a request that is not under way takes no step, whatever is observed', () => {
  for (const state of ['approved', 'done', 'failed', 'not-started', 'superseded', 'untracked'] as const)
    for (const observation of everyObservation)
      expect(nextStep(request(state), observation, sentAt + lateAfterMs, lateAfterMs)).toBeUndefined()
})

describe('an observation', () => {
  test('of an unanswered write under way starts the tracking', () => {
    expect(stepAfter(request('starting'), { is: 'underway' }, sentAt + 5_000)).toMatchObject({
      name: 'accept',
      to: 'tracking',
    })
  })

  test('of a change that is done ends the request with one report', () => {
    expect(stepAfter(request('tracking'), { is: 'done' }, sentAt + 5_000)).toMatchObject({
      to: 'done',
      stamps: ['endedAt'],
      reports: ['ended'],
    })
  })

  test.each(['starting', 'tracking'] as const)('that is unclear reports nothing before the request is late: %s', (state) => {
    expect(stepAfter(request(state), { is: 'unclear' }, sentAt + lateAfterMs - 1)).toBeUndefined()
  })

  test.each(['starting', 'tracking'] as const)('that is unclear reports a late request once, and ends nothing: %s', (state) => {
    const step = stepAfter(request(state), { is: 'unclear' }, sentAt + lateAfterMs)
    expect(step).toMatchObject({ name: 'late', to: state, reports: ['late'], ifUnchanged: true })
    expect(stepAfter(request(state, { lateAt: sentAt + lateAfterMs }), { is: 'unclear' }, sentAt + lateAfterMs * 2)).toBeUndefined()
  })

  test('of a write without effect is reported with its cause', () => {
    const step = stepAfter(request('starting'), { is: 'not-started', cause: gone }, sentAt + 61_000)
    expect(step).toMatchObject({ to: 'not-started', reports: ['ended'], set: { causes: [gone] } })
    expect(step).not.toHaveProperty('isDueAgain')
  })

  test('of a final failure ends the tracking', () => {
    const step = stepAfter(request('tracking'), { is: 'failed', cause: gone }, sentAt + 61_000)
    expect(step).toMatchObject({ to: 'failed', set: { causes: [gone] } })
    expect(step).not.toHaveProperty('isDueAgain')
  })

  test('of a failure before the write was confirmed records that the change had started', () => {
    const step = stepAfter(request('starting'), { is: 'failed', cause: gone }, sentAt + 5_000)
    expect(step).toMatchObject({ to: 'failed', stamps: ['acceptedAt', 'endedAt'], reports: ['ended'] })
  })

  test('of a failure that left nothing does not record a start', () => {
    const observation = { is: 'failed', cause: gone, corrects: true } as const
    expect(stepAfter(request('starting'), observation, sentAt + 5_000)).toMatchObject({ to: 'failed', stamps: ['endedAt'] })
  })

  test('of a change that is done keeps its notes', () => {
    expect(nextStep(request('tracking'), { is: 'done', notes: [gone] }, sentAt + 1, lateAfterMs)).toEqual({
      name: 'finish',
      set: { causes: [gone] },
    })
    expect(nextStep(request('tracking'), { is: 'done', notes: [] }, sentAt + 1, lateAfterMs)).toEqual({ name: 'finish' })
  })

  test('of a late request keeps what was seen', () => {
    const seen = { status: 'moving', server: null }
    const late = nextStep(request('tracking'), { is: 'underway', seen }, sentAt + lateAfterMs, lateAfterMs)
    expect(late).toEqual({ name: 'late', set: { lastSeen: seen }, isDueAgain: true })
  })

  test('of a failure keeps the time at which the write was accepted', () => {
    const step = stepAfter(request('tracking'), { is: 'failed', cause: gone }, sentAt + 5_000)
    expect(step).toMatchObject({ to: 'failed', stamps: ['endedAt'] })
  })
})
