import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ApproveTerms, toGroup } from '../../src/domain/policy.ts'
import type { Request } from '../../src/domain/request.ts'
import { callsOf } from '../../src/life/waiting.ts'
import { terms } from '../given/people.ts'
import { minutes, requestedAt, requestFor } from '../given/request.ts'

const half = requestedAt + 120 * minutes
const last = requestedAt + 216 * minutes
const expiry = requestedAt + 240 * minutes

/** What is due, by its report, the steps that would be noted, and when the next call is. */
function calls(request: Request, now: number, approve?: ApproveTerms) {
  const { due, nextAt } = callsOf(request, now, approve)
  return { due: due?.report, set: due?.set, nextAt }
}

describe('the reminders of a request', () => {
  test.each([
    ['at first', 0, requestedAt, { due: undefined, nextAt: half }],
    ['just before half of the time', 0, half - 1, { due: undefined, nextAt: half }],
    ['at half of the time', 0, half, { due: 'reminder-half', set: { reminded: 1 }, nextAt: last }],
    ['after half of the time, once reminded', 1, half + 1, { due: undefined, nextAt: last }],
    ['just before nine tenths', 1, last - 1, { due: undefined, nextAt: last }],
    ['at nine tenths', 1, last, { due: 'reminder-last', set: { reminded: 2 }, nextAt: expiry }],
    ['after nine tenths, reminded twice', 2, last + 1, { due: undefined, nextAt: expiry }],
  ] as const)('%s', (_, reminded, now, expected) => {
    expect(calls(requestFor({ reminded }), now)).toEqual(expected)
  })

  test('the first is skipped if the last is due as well, because no worker ran in between', () => {
    expect(calls(requestFor(), last)).toEqual({ due: 'reminder-last', set: { reminded: 2 }, nextAt: expiry })
  })

  test('depend on the signed time to decide, and not on the deadline in the record', () => {
    const extended = requestFor({ expiresAt: expiry + 60 * minutes })
    expect(calls(extended, half - 1).due).toBeUndefined()
    expect(calls(extended, last)).toMatchObject({ due: 'reminder-last', nextAt: expiry + 60 * minutes })
  })

  test.each([
    ['before half of the time', 0, half - 1, undefined, half],
    ['at half of the time', 0, half, 'handover-half', last],
    ['at nine tenths', 1, last, 'handover-last', expiry],
  ] as const)('of an approved request are for its requester, and begin anew: %s', (_, reminded, now, due, nextAt) => {
    const later = 100 * minutes
    const approved = requestFor({ state: 'approved', reminded, expiresAt: expiry + later })

    expect(calls(approved, now + later, escalating(110))).toMatchObject({ due, nextAt: nextAt + later })
  })
})

describe('the reminders of what an alert requested', () => {
  const ofAlert = (reminded: number, more: Partial<Request> = {}) => requestFor({ reminded, alert: { name: 'NodeDown' }, ...more })
  const after = (minute: number) => requestedAt + minute * minutes

  test.each([
    ['at first', 0, 0, undefined, 5],
    ['after 5 minutes', 0, 5, 1, 15],
    ['after 15', 1, 15, 2, 45],
    ['and then every 30', 2, 45, 3, 75],
    ['until the deadline', 8, 225, 9, 240],
    ['with one for several that no worker sent', 1, 80, 4, 105],
  ])('%s', (_, reminded, now, noted, next) => {
    const due = noted === undefined ? undefined : 'reminder-half'
    expect(calls(ofAlert(reminded), after(now))).toEqual({ due, set: noted && { reminded: noted }, nextAt: after(next) })
  })

  test('call at half of a time that is shorter than 10 minutes', () => {
    expect(calls(ofAlert(0, { ttlMs: 4 * minutes, expiresAt: after(4) }), after(2))).toMatchObject({
      due: 'reminder-half',
      nextAt: after(4),
    })
  })
})

/** Terms that escalate after so many minutes. */
function escalating(after: number): ApproveTerms {
  return terms(['SONCALL'], { escalate: { afterMs: after * minutes, to: toGroup(['SLEADS']) } })
}

describe('the escalation of a request', () => {
  const at = (minute: number) => requestedAt + minute * minutes

  test.each<[string, ApproveTerms, Partial<Request>, number, Partial<ReturnType<typeof calls>>]>([
    ['not before its time', escalating(30), {}, at(30) - 1, { due: undefined, nextAt: at(30) }],
    ['at its time', escalating(30), {}, at(30), { due: 'escalation', set: { reminded: 0, escalated: true }, nextAt: half }],
    ['once', escalating(30), { escalated: true }, at(31), { due: undefined, nextAt: half }],
    ['at the first time of two rules', { ...escalating(30), also: [escalating(20)] }, {}, at(20), { due: 'escalation', nextAt: half }],
    [
      'instead of a reminder that is due, too',
      escalating(30),
      {},
      at(125),
      { due: 'escalation', set: { reminded: 1, escalated: true }, nextAt: last },
    ],
    [
      'never, if another rule lets the request expire before',
      escalating(240.5),
      { reminded: 1 },
      last,
      { due: 'reminder-last', nextAt: expiry },
    ],
  ])('%s', (_, approve, request, now, expected) => {
    expect(calls(requestFor(request), now, approve)).toMatchObject(expected)
  })
})

describe('over the whole time of a request, however often it is checked and however long no worker runs', () => {
  /** In minutes. */
  const anyTimes = fc.integer({ min: 1, max: 8 * 60 }).chain((expires) => {
    const anywhere = fc.integer({ min: 1, max: expires * 60 }).map((s) => s / 60)
    const after = fc.option(anywhere, { nil: undefined })
    /** How late each check is, in seconds. */
    const delays = fc.array(fc.oneof(fc.constant(0), fc.nat(90), fc.nat(2 * 3_600)), { minLength: 1, maxLength: 12 })
    return fc.record({ expires: fc.constant(expires), after, delays })
  })

  /** Checks a request until it expires. Returns each call with its time, and the record before and after it. */
  function callsOver({ expires, after, delays }: { expires: number; after: number | undefined; delays: number[] }) {
    const approve = after === undefined ? undefined : escalating(after)
    let request = requestFor({ ttlMs: expires * minutes, expiresAt: requestedAt + expires * minutes })
    const made: { at: number; report: string; request: Request }[] = []
    let now = requestedAt
    for (let check = 0; now < request.expiresAt; check += 1) {
      const { due, nextAt } = callsOf(request, now, approve)
      expect(nextAt).toBeGreaterThan(now)
      expect(nextAt).toBeLessThanOrEqual(request.expiresAt)
      request = { ...request, ...due?.set }
      if (due) made.push({ at: now, report: due.report, request })
      expect(callsOf(request, now, approve).due).toBeUndefined()
      now = nextAt + (delays[check % delays.length] ?? 0) * 1_000
    }
    return made
  }

  const isReminder = ({ report }: { report: string }) => report.startsWith('reminder')
  const always = (holds: (made: ReturnType<typeof callsOver>, of: { expires: number; after: number | undefined }) => void) =>
    fc.assert(
      fc.property(anyTimes, (of) => holds(callsOver(of), of)),
      { numRuns: 1_000 },
    )

  test('each report is sent once, in order', () => {
    always((made) => {
      for (const sort of [true, false]) {
        const reports = made.filter((call) => isReminder(call) === sort).map(({ report }) => report)
        expect(reports).toEqual([...new Set(reports)].toSorted())
      }
    })
  })

  test('nobody is missed: the escalation and every reminder that was due count', () => {
    always((made, { expires, after }) => {
      const { at = requestedAt, request = requestFor() } = made.at(-1) ?? {}
      const isOver = (minute: number) => requestedAt + minute * minutes <= at
      expect(request.escalated).toBe(after !== undefined && isOver(after) && after < expires)
      expect(request.reminded).toBeGreaterThanOrEqual([0.5, 0.9].filter((share) => isOver(expires * share)).length)
    })
  })
})
