import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { remindersOf } from '../../../src/requests/reconcile.ts'
import { minutes, requestedAt, requestFor } from '../request-for-test.ts'

const half = requestedAt + 120 * minutes
const last = requestedAt + 216 * minutes
const expiry = requestedAt + 240 * minutes

describe('the reminders of a request', () => {
  test.each([
    ['at first', 0, requestedAt, { due: undefined, passed: 0, nextAt: half }],
    ['just before half of the time', 0, half - 1, { due: undefined, passed: 0, nextAt: half }],
    ['at half of the time', 0, half, { due: 'reminder-half', passed: 1, nextAt: last }],
    ['after half of the time, once reminded', 1, half + 1, { due: undefined, passed: 1, nextAt: last }],
    ['just before nine tenths', 1, last - 1, { due: undefined, passed: 1, nextAt: last }],
    ['at nine tenths', 1, last, { due: 'reminder-last', passed: 2, nextAt: expiry }],
    ['after nine tenths, reminded twice', 2, last + 1, { due: undefined, passed: 2, nextAt: expiry }],
  ] as const)('%s', (_, reminded, now, expected) => {
    expect(remindersOf(requestFor({ reminded }), now)).toEqual(expected)
  })

  test('the first is skipped if the last is due as well, because no worker ran in between', () => {
    expect(remindersOf(requestFor({ reminded: 0 }), last)).toEqual({ due: 'reminder-last', passed: 2, nextAt: expiry })
  })

  test('each is due once, however often they are checked, and the next time is never in the past', () => {
    const anyTimes = fc.array(fc.integer({ min: requestedAt, max: expiry - 1 }), { maxLength: 20 })
    fc.assert(
      fc.property(anyTimes, (times) => {
        const sent: string[] = []
        let reminded = 0
        for (const now of times.toSorted((a, b) => a - b)) {
          const { due, passed, nextAt } = remindersOf(requestFor({ reminded }), now)
          if (due) {
            sent.push(due)
            reminded = passed
          }
          expect(nextAt).toBeGreaterThan(now)
          expect(nextAt).toBeLessThanOrEqual(expiry)
        }
        expect(sent).toEqual([...new Set(sent)])
        expect(sent).toEqual(sent.toSorted())
      }),
    )
  })

  test('depend on the signed time to decide, and not on the deadline in the record', () => {
    const extended = requestFor({ expiresAt: expiry + 60 * minutes })
    expect(remindersOf(extended, half - 1).due).toBeUndefined()
    expect(remindersOf(extended, last)).toEqual({ due: 'reminder-last', passed: 2, nextAt: expiry + 60 * minutes })
  })

  test.each([
    ['before half of the time', 0, half - 1, undefined, half],
    ['at half of the time', 0, half, 'handover-half', last],
    ['at nine tenths', 1, last, 'handover-last', expiry],
  ] as const)('of an approved request are for its requester, and begin anew: %s', (_, reminded, now, due, nextAt) => {
    const later = 100 * minutes
    const approved = requestFor({ state: 'approved', reminded, expiresAt: expiry + later })

    expect(remindersOf(approved, now + later)).toMatchObject({ due, nextAt: nextAt + later })
  })
})
