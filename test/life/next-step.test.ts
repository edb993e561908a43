import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Observation } from '../../src/domain/change.ts'
import { isOpen, type Request } from '../../src/domain/request.ts'
import { nextStep } from '../../src/life/track.ts'
import { stepOf } from '../../src/record/steps.ts'
import { requestFor } from '../given/request.ts'
import { afterStep } from '../given/take-steps.ts'

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
  { is: 'reverted', cause: gone },
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

const revertedSince = (since: number) => ({ ...request('tracking'), revertedSince: since })
const seen = { status: 'moving', server: null }
const failed = { is: 'failed', cause: gone } as const
const usually = { slowAfterMs: 60_000 }

test.each<[what: string, before: Request, observation: Observation, afterMs: number, step: object | undefined]>([
  ['an unanswered write under way', request('starting'), { is: 'underway' }, 5_000, { name: 'accept', to: 'tracking', isDueAgain: true }],
  ['a change that is done', request('tracking'), { is: 'done' }, 5_000, { to: 'done', stamps: ['endedAt'], reports: ['ended'] }],
  ['one with notes', request('tracking'), { is: 'done', notes: [gone] }, 5_000, { to: 'done', set: { causes: [gone] } }],
  ['an unclear one', request('starting'), { is: 'unclear' }, lateAfterMs - 1, undefined],
  ['an unclear one, tracked', request('tracking'), { is: 'unclear' }, lateAfterMs - 1, undefined],
  [
    'a late one',
    request('starting'),
    { is: 'unclear' },
    lateAfterMs,
    { name: 'late', to: 'starting', reports: ['late'], ifUnchanged: true },
  ],
  [
    'a late one, tracked',
    request('tracking'),
    { is: 'underway', seen },
    lateAfterMs,
    { name: 'late', set: { lastSeen: seen }, isDueAgain: true },
  ],
  ['one that was reported as late', request('tracking', { lateAt: sentAt }), { is: 'unclear' }, lateAfterMs * 2, undefined],
  ['one before it is slower than usual', request('tracking', usually), { is: 'unclear' }, 59_999, undefined],
  ['one slower than usual', request('tracking', usually), { is: 'unclear' }, 60_000, { name: 'slow', to: 'tracking', isDueAgain: true }],
  ['one known to be slow', request('tracking', { ...usually, slowAt: sentAt }), { is: 'unclear' }, 61_000, undefined],
  [
    'one known to be slow that is late',
    request('tracking', { ...usually, slowAt: sentAt }),
    { is: 'unclear' },
    lateAfterMs,
    { name: 'late' },
  ],
  ['one as late as it is slow', request('tracking', { slowAfterMs: lateAfterMs }), { is: 'unclear' }, lateAfterMs, { name: 'late' }],
  [
    'a write without effect',
    request('starting'),
    { is: 'not-started', cause: gone },
    61_000,
    { to: 'not-started', set: { causes: [gone] } },
  ],
  ['a final failure', request('tracking'), failed, 61_000, { to: 'failed', stamps: ['endedAt'], set: { causes: [gone] } }],
  [
    'a second look that shows it undone',
    revertedSince(sentAt + 60_000),
    { is: 'reverted', cause: gone },
    80_000,
    { to: 'failed', reports: ['ended'], set: { causes: [gone] } },
  ],
  ['one too soon after the first', revertedSince(sentAt + 60_001), { is: 'reverted', cause: gone }, 80_000, undefined],
  ['the first look that shows it undone', request('tracking'), { is: 'reverted', cause: gone }, 80_000, undefined],
  ['one before the write was confirmed', request('starting'), failed, 5_000, { to: 'failed', stamps: ['acceptedAt', 'endedAt'] }],
  ['one that left nothing', request('starting'), { ...failed, corrects: true }, 5_000, { to: 'failed', stamps: ['endedAt'] }],
])('the step after %s', (_, before, observation, afterMs, expected) => {
  const step = stepAfter(before, observation, sentAt + afterMs)
  if (expected) expect(step).toMatchObject(expected)
  else expect(step).toBeUndefined()
  if (step && !isOpen(step.to)) expect(step).not.toHaveProperty('isDueAgain')
})
