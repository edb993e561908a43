import { expect, test } from 'vitest'
import type { Underway } from '../../../../src/domain/request/request.ts'
import { createPace } from '../../../../src/requests/reconcile/track/pace.ts'

const tracked: Underway = {
  id: 'a',
  kind: 'ip.move',
  state: 'tracking',
  createdAt: 0,
  sentAt: 0,
  lateAt: undefined,
  trackedUntil: undefined,
}

test.each<[string, Partial<Underway>, number]>([
  ['under way is due at every tick, and at every look between two ticks', {}, 0],
  ['whose answer is unknown is due after an interval', { state: 'starting' }, 4_000],
  ['that is late is due seldom', { lateAt: 1 }, 24_000],
  ['that was reported as not started is due seldom', { state: 'not-started', trackedUntil: 1 }, 12_000],
])('a change %s', (_, differences, ms) => {
  const { paceMs } = createPace({ store: { postpone: async () => {} }, pollIntervalMs: 4_000 })

  expect(paceMs({ ...tracked, ...differences })).toBe(ms)
})

test('requests are postponed with one command for each pace', async () => {
  const postponed: [string[], number][] = []
  const { postpone } = createPace({ store: { postpone: async (ids, ms) => void postponed.push([ids, ms]) }, pollIntervalMs: 4_000 })

  await postpone([tracked, { ...tracked, id: 'b', lateAt: 1 }, { ...tracked, id: 'c' }])

  expect(postponed).toEqual([
    [['a', 'c'], 0],
    [['b'], 24_000],
  ])
})
