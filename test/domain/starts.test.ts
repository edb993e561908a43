import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Freeze, Window } from '../../src/domain/policy.ts'
import { Waits } from '../../src/domain/request.ts'
import { heldFrom, mayStartUntil, type Signed, type Times } from '../../src/domain/starts.ts'

const minute = 60_000
const days = 24 * 60
/** A Monday, 00:00 UTC. Everything below is in minutes after it. */
const monday = Date.UTC(2026, 10, 16)
const at = (minutes: number) => monday + minutes * minute
const longest = 14 * days

interface Case {
  approved: number
  start: number | undefined
  startNow: number | undefined
  windows: { days: number[]; from: number; to: number }[]
  freezes: { from: number; to: number; covers: boolean }[]
}

const clock = (minutes: number) => `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`

function signedOf({ approved, start, startNow }: Case): Signed {
  return {
    approvedAt: at(approved),
    start: start === undefined ? undefined : at(start),
    startNow: startNow === undefined ? undefined : { at: at(startNow) },
  }
}

function timesOf({ windows, freezes }: Case): Times {
  return {
    kind: 'ip.move',
    project: 'none',
    windows: windows.map(
      ({ days, from, to }, index): Window => ({ name: `window ${index}`, days, from: clock(from), to: clock(to), zone: 'UTC' }),
    ),
    freezes: freezes.map(
      ({ from, to, covers }, index): Freeze => ({
        name: `freeze ${index}`,
        from: at(from),
        to: at(to),
        changes: covers ? undefined : ['vm.rename'],
      }),
    ),
  }
}

/** The same, said minute by minute. */
function isOpen({ windows, freezes }: Case, minutes: number): boolean {
  const day = Math.floor(minutes / days)
  const time = minutes - day * days
  const weekday = (((day % 7) + 7) % 7) + 1
  const yesterday = weekday === 1 ? 7 : weekday - 1
  const inWindows = windows.every(({ days: on, from, to }) =>
    from < to
      ? on.includes(weekday) && from <= time && time < to
      : (on.includes(weekday) && from <= time) || (on.includes(yesterday) && time < to),
  )
  return inWindows && !freezes.some(({ from, to, covers }) => covers && from <= minutes && minutes < to)
}

function until(of: Case): number {
  return (mayStartUntil(signedOf(of), timesOf(of)) - monday) / minute
}

function held(of: Case, now: number) {
  return heldFrom(at(now), signedOf(of), timesOf(of))
}

/** The first minute at which it may start. Undefined: not within 14 days of the approval. */
function dueOf(of: Case, from = earliestOf(of)): number | undefined {
  for (let minutes = from; minutes < of.approved + longest; minutes += 1) if (isOpen(of, minutes)) return minutes
  return undefined
}

function earliestOf({ approved, start, startNow }: Case): number {
  return Math.max(approved, startNow ?? start ?? approved)
}

const span = (most: number) =>
  fc.tuple(fc.integer({ min: -2 * days, max: 15 * days }), fc.oneof(fc.integer({ min: 1, max: 90 }), fc.integer({ min: 1, max: most })))
const someCase: fc.Arbitrary<Case> = fc.record({
  approved: fc.integer({ min: 0, max: days }),
  start: fc.option(fc.oneof(fc.integer({ min: 0, max: 2 * days }), fc.integer({ min: 0, max: 15 * days })), { nil: undefined }),
  startNow: fc.option(fc.integer({ min: 0, max: 2 * days }), { nil: undefined, freq: 5 }),
  windows: fc.array(
    fc.record({
      days: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 7 }),
      from: fc.integer({ min: 0, max: days - 1 }),
      to: fc.integer({ min: 0, max: days - 1 }),
    }),
    { maxLength: 2 },
  ),
  freezes: fc.array(
    fc.tuple(fc.oneof(span(3 * days), span(90)), fc.boolean()).map(([[from, length], covers]) => ({ from, to: from + length, covers })),
    { maxLength: 6 },
  ),
})
/** The freezes near the time at which it may start matter most. */
const nearby = someCase.map((of) => ({
  ...of,
  freezes: of.freezes.map((each) => shifted(each, earliestOf(of) + (((each.from % 90) + 90) % 90) - 30)),
}))
const anyCase = fc.oneof(someCase, nearby)

function shifted(freeze: Case['freezes'][number], from: number) {
  return { ...freeze, from, to: from + freeze.to - freeze.from }
}

const check = (property: fc.IProperty<unknown>, numRuns = 100) => fc.assert(property, { numRuns })

describe('the time in which an approved request may start', () => {
  test('ends half an hour after the latest of approval, start, opening and end of a freeze, also of one that begins meanwhile, and after 14 days', () => {
    check(
      fc.property(anyCase, (of) => {
        const last = of.approved + longest
        let due = dueOf(of)
        let ends = (due ?? last) + 30
        for (let now = due ?? last; due !== undefined && now <= ends && now < last; now += 1) {
          const begun = of.freezes.filter(({ from, covers }) => covers && from === now && now > (due ?? now))
          if (begun.length === 0) continue
          due = dueOf(of, Math.max(...begun.map(({ to }) => to)))
          ends = (due ?? last) + 30
          now = (due ?? last) - 1
        }
        expect(until(of)).toBe(Math.min(ends, last + 30))
      }),
    )
  })

  test('ends for a press as much later, or with a window that is shorter, and begins again with each freeze that begins meanwhile', () => {
    const pressed = 4 * 60
    check(
      fc.property(anyCase, (of) => {
        const ends = (mayStartUntil(signedOf(of), timesOf(of), pressed * minute) - monday) / minute
        const due = dueOf(of) ?? Number.POSITIVE_INFINITY
        const last = of.approved + longest
        expect(ends).toBeGreaterThan(Math.min(due, last))
        expect(ends).toBeLessThanOrEqual(last + pressed)
        // At the end of the 14 days it may have less.
        if (ends > last) return
        const windows = { ...of, freezes: [] }
        if (!isOpen(windows, ends)) {
          expect(isOpen(windows, ends - 1)).toBe(true)
          // It had all of its time, or all of a window.
          if (ends === due + pressed) return
          let opens = ends - 1
          while (isOpen(windows, opens - 1)) opens -= 1
          expect(opens).toBeGreaterThanOrEqual(Math.min(due, ends - pressed))
          return
        }
        expect(ends).toBeGreaterThanOrEqual(due + pressed)
        expect(isOpen(of, ends)).toBe(true)
        expect(isOpen(of, ends - pressed)).toBe(true)
        expect(of.freezes.filter(({ from, covers }) => covers && from > ends - pressed && from <= ends)).toEqual([])
      }),
    )
  })

  test.each([
    ['02:00', '04:00', 240],
    ['09:00', '17:00', 720],
  ])('ends for a press with a window that is shorter, from %s to %s of %i minutes', (from, to, pressed) => {
    const windows = [{ name: 'short', days: [1, 2, 3, 4, 5, 6, 7], from, to, zone: 'UTC' }]
    const ends = mayStartUntil({ approvedAt: at(60) }, { kind: 'key.create', project: 'none', windows, freezes: [] }, pressed * minute)
    expect(new Date(ends).toISOString()).toBe(`2026-11-16T${to}:00.000Z`)
  })

  test.each([0, 1, 60, days])(
    'is half an hour also for a start that is 14 days after the request, approved %i minutes after that',
    (approved) => {
      const of: Case = { approved, start: longest, startNow: undefined, windows: [], freezes: [] }
      expect(until(of)).toBe(longest + 30)
    },
  )

  test('ends although the clock of Redis went back while a freeze was on, so that the freeze ended before it began', () => {
    const of: Case = { approved: 0, start: undefined, startNow: undefined, windows: [], freezes: [{ from: 10, to: -50, covers: true }] }
    expect(until(of)).toBe(30)
  })
})

describe('a request', () => {
  test('is held exactly until its start, outside a window and in a freeze, and says until when', () => {
    check(
      fc.property(anyCase, fc.integer({ min: 0, max: 16 * days }), (of, now) => {
        const isStarted = of.startNow !== undefined || now >= (of.start ?? now)
        const found = held(of, now)
        expect(found === undefined).toBe(isStarted && isOpen(of, now))
        if (!found) return
        expect(found.waits.mayStartNow === true).toBe(isOpen(of, now))
        if (!Number.isFinite(found.at)) return
        if (found.waits.for === 'start') return void expect(found.at).toBe(at(of.start ?? 0))
        const then = (found.at - monday) / minute
        expect(found.waits.until).toBe(found.at)
        expect(held(of, then)).toBeUndefined()
        for (const between of [now + 1, Math.floor((now + then) / 2), then - 1])
          if (between >= now && between < then) expect(held(of, between), `${between}`).toBeDefined()
      }),
    )
  })

  test('that an approver lets start at once passes its start, and neither windows nor freezes', () => {
    check(
      fc.property(anyCase, fc.integer({ min: 0, max: 2 * days }), (of, now) => {
        expect(held({ ...of, startNow: 0 }, now) === undefined).toBe(isOpen(of, now))
      }),
    )
  })

  test('that was approved by a clock that was ahead is not held until that time', () => {
    expect(held({ approved: 60, start: undefined, startNow: undefined, windows: [], freezes: [] }, 0)).toBeUndefined()
  })

  const none = { approved: 0, start: undefined, startNow: undefined, windows: [], freezes: [] }
  const whole = { from: 0, to: 0 }
  test('whose start is ahead is held until that while nobody knows when a freeze ends, and by the freeze from then on', () => {
    const frozen = { ...none, start: 20, freezes: [{ from: -5, to: Number.POSITIVE_INFINITY, covers: true }] }
    expect(held(frozen, 10)).toEqual({ waits: { for: 'start', until: at(20), ifLifted: true }, at: at(20) })
    expect(held(frozen, 20)?.waits).toEqual({ for: 'freeze', name: 'freeze 0' })
  })

  test('whose start is outside its window, or in a planned freeze, names neither as its start while another freeze ends nobody knows when', () => {
    const [on, planned] = [
      { from: -5, to: Number.POSITIVE_INFINITY, covers: true },
      { from: 15, to: 40, covers: true },
    ]
    const closed = { ...none, start: 20, windows: [{ days: [1], from: 60, to: 0 }], freezes: [on] }
    expect(held(closed, 10)).toEqual({ waits: { for: 'window', name: 'window 0', until: at(60), ifLifted: true }, at: at(20) })
    // Redis has no infinite numbers.
    const long = { ...none, start: 20, freezes: [{ from: -5, to: 90 * days, covers: true }] }
    expect(Waits.parse(JSON.parse(JSON.stringify(held(long, 10)?.waits)))).toEqual({
      for: 'freeze',
      name: 'freeze 0',
      until: at(90 * days),
    })
    const both = { ...long, freezes: [on, ...long.freezes] }
    expect(Waits.parse(JSON.parse(JSON.stringify(held(both, 10)?.waits)))).toEqual({ for: 'start', until: at(20), ifLifted: true })
    const twice = { ...none, start: 20, freezes: [on, planned] }
    expect(held(twice, 10)).toEqual({ waits: { for: 'start', until: at(40), ifLifted: true }, at: at(20) })
  })

  test('whose start is in a freeze that is only planned says from when, and may start now, and neither once that has begun', () => {
    const planned = { ...none, start: 30, freezes: [{ from: 20, to: 60, covers: true }] }
    const waits = { for: 'freeze', name: 'freeze 0', until: at(60) }
    expect(held(planned, 10)?.waits).toEqual({ ...waits, from: at(20), mayStartNow: true })
    expect(held(planned, 20)?.waits).toEqual(waits)
    const closed = { ...planned, windows: [{ days: [1], from: 25, to: 0 }] }
    expect(held(closed, 10)?.waits).toEqual({ ...waits, from: at(20) })
  })

  test('that a window and a freeze hold names the one that ends last', () => {
    const both = (to: number) => ({ ...none, windows: [{ days: [1], from: 60, to: 0 }], freezes: [{ from: -5, to, covers: true }] })
    expect(held(both(30), 10)?.waits).toEqual({ for: 'window', name: 'window 0', until: at(60) })
    expect(held(both(90), 10)?.waits).toEqual({ for: 'freeze', name: 'freeze 0', until: at(90) })
  })

  test.each<[string, Case, object]>([
    ['a freeze', { ...none, freezes: [{ from: -5, to: Number.POSITIVE_INFINITY, covers: true }] }, { for: 'freeze', name: 'freeze 0' }],
    [
      'a freeze that begins when its window opens',
      { ...none, windows: [{ days: [2], ...whole }], freezes: [{ from: days, to: Number.POSITIVE_INFINITY, covers: true }] },
      { for: 'freeze', name: 'freeze 0' },
    ],
    [
      'two windows that are never open together',
      {
        ...none,
        windows: [
          { days: [1], ...whole },
          { days: [2], ...whole },
        ],
      },
      { for: 'window', name: 'window 0' },
    ],
  ])('that nothing lets start is held without an end by %s', (_, of, waits) => {
    expect(held(of, 10)).toEqual({ waits, at: Number.POSITIVE_INFINITY })
    expect(until(of)).toBe(longest + 30)
  })
})
