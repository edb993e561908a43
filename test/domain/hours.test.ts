import fc from 'fast-check'
import { Temporal } from 'temporal-polyfill'
import { describe, expect, it, test } from 'vitest'
import { earliestStart, type Hours, holdsOf, whenOpen } from '../../src/domain/hours.ts'
import type { Freeze, Project, Window } from '../../src/domain/policy.ts'
import { timeWords } from '../../src/domain/times.ts'

const lisbon = 'Europe/Lisbon'
const minutes = 60_000
const hours = 60 * minutes

const at = (local: string, zone = lisbon) => Temporal.PlainDateTime.from(local).toZonedDateTime(zone).epochMilliseconds

const office: Window = { name: 'office', days: [1, 2, 3, 4, 5], from: '09:00', to: '17:00', zone: lisbon }
const night: Window = { name: 'night', days: [5], from: '22:00', to: '06:00', zone: lisbon }
const move = { kind: 'ip.move', project: 'none' as Project }

function opens(windows: Window[], from: string, freezes: Freeze[] = []): string {
  const found = earliestStart({ windows, freezes }, move, at(from))
  if (found.at === Number.POSITIVE_INFINITY) return 'never'
  const held = found.holds.map(({ by, name, until }) => `${by} ${name} until ${timeWords(until, lisbon)}`)
  return [timeWords(found.at, lisbon), ...held].join('; ').replaceAll(` (${lisbon})`, '')
}

describe('a window', () => {
  const sunday = { ...office, days: [7] }
  const march = { ...office, days: [7, 1] }
  it.each<[Window, from: string, opensAt: string, opened?: 'open']>([
    [office, '2026-11-27T09:00', 'Fri 27 Nov, 09:00', 'open'],
    [office, '2026-11-27T16:59:59', 'Fri 27 Nov, 16:59', 'open'],
    [office, '2026-11-27T08:59:59', 'Fri 27 Nov, 09:00'],
    [office, '2026-11-27T17:00', 'Mon 30 Nov, 09:00'],
    [office, '2026-11-28T12:00', 'Mon 30 Nov, 09:00'],
    // It belongs to the day on which it opens.
    [night, '2026-11-27T23:00', 'Fri 27 Nov, 23:00', 'open'],
    [night, '2026-11-28T05:59', 'Sat 28 Nov, 05:59', 'open'],
    [night, '2026-11-28T06:00', 'Fri 4 Dec, 22:00'],
    [night, '2026-11-27T05:00', 'Fri 27 Nov, 22:00'],
    [{ ...night, days: [7], from: '23:00', to: '01:00' }, '2026-11-30T00:30', 'Mon 30 Nov, 00:30', 'open'],
    [{ ...night, to: '00:00' }, '2026-11-27T23:59', 'Fri 27 Nov, 23:59', 'open'],
    [{ ...night, to: '00:00' }, '2026-11-28T00:00', 'Fri 4 Dec, 22:00'],
    // 24 hours.
    [{ ...night, from: '08:00', to: '08:00' }, '2026-11-28T07:59', 'Sat 28 Nov, 07:59', 'open'],
    [{ ...night, from: '08:00', to: '08:00' }, '2026-11-28T08:00', 'Fri 4 Dec, 08:00'],
    // The clock of another zone.
    [{ ...office, zone: 'Asia/Tokyo' }, '2026-11-27T12:00', 'Mon 30 Nov, 00:00'],
    // A leap day.
    [office, '2028-02-28T18:00', 'Tue 29 Feb, 09:00'],
    // The clock goes forward from 01:00 to 02:00 on Sun 28 March 2027: an hour that does not exist opens nothing.
    [{ ...march, from: '01:00', to: '02:00' }, '2027-03-27T12:00', 'Mon 29 Mar, 01:00'],
    [{ ...march, from: '01:30', to: '03:00' }, '2027-03-27T12:00', 'Sun 28 Mar, 02:00'],
    // It goes back from 02:00 to 01:00 on Sun 31 October 2027: an hour that exists twice is open twice.
    [{ ...sunday, from: '01:00', to: '01:30' }, '2027-10-31T01:15', 'Sun 31 Oct, 01:15', 'open'],
    [{ ...sunday, from: '01:00', to: '01:30' }, '2027-10-31T01:45', 'Sun 31 Oct, 01:00'],
    [{ ...sunday, from: '01:30', to: '01:45' }, '2027-10-30T01:50', 'Sun 31 Oct, 01:30'],
    [{ ...sunday, from: '01:30', to: '01:45' }, '2027-10-31T01:50', 'Sun 31 Oct, 01:30'],
    // In Cairo, 30 April 2027 begins at 01:00.
    [{ ...office, from: '00:30', to: '05:00', zone: 'Africa/Cairo' }, '2027-04-29T12:00', 'Thu 29 Apr, 23:00'],
  ])('%j at %s: open at %s', (window, from, opensAt, opened) => {
    expect(opens([window], from)).toBe(opened ? opensAt : `${opensAt}; window ${window.name} until ${opensAt}`)
  })

  it('and another never open at the same time hold forever', () => {
    expect(opens([office, { ...office, name: 'late', from: '17:00', to: '18:00' }], '2026-11-27T12:00')).toBe('never')
    expect(opens([office, { ...office, name: 'late', from: '16:00', to: '18:00' }], '2026-11-27T12:00')).toBe(
      'Fri 27 Nov, 16:00; window late until Fri 27 Nov, 16:00',
    )
  })

  it.each([
    [office, 'Mon, Tue, Wed, Thu, Fri 09:00–17:00 (Europe/Lisbon)'],
    [{ ...night, days: [1, 2, 3, 4, 5, 6, 7] }, 'daily 22:00–06:00 (Europe/Lisbon)'],
    [{ ...night, days: [7, 6] }, 'Sat, Sun 22:00–06:00 (Europe/Lisbon)'],
    [{ ...night, days: [1, 3, 5, 6, 7], to: '22:00' }, 'Mon, Wed, Fri, Sat, Sun 24 h from 22:00 (Europe/Lisbon)'],
  ])('%j in words: %s', (window, expected) => {
    expect(whenOpen(window)).toBe(expected)
  })
})

describe('a freeze', () => {
  const sales = { name: 'sales', from: at('2026-11-27T00:00'), to: at('2026-11-30T08:00') }

  it('holds until its end, and a window after it', () => {
    expect(opens([], '2026-11-27T00:00', [sales])).toBe('Mon 30 Nov, 08:00; freeze sales until Mon 30 Nov, 08:00')
    expect(opens([], '2026-11-26T23:59', [sales])).toBe('Thu 26 Nov, 23:59')
    expect(opens([office], '2026-11-26T18:00', [sales])).toBe(
      'Mon 30 Nov, 09:00; window office until Fri 27 Nov, 09:00; freeze sales until Mon 30 Nov, 08:00; window office until Mon 30 Nov, 09:00',
    )
  })

  it('that lasts longer than 60 days holds forever', () => {
    const long = { ...sales, to: sales.from + 61 * 24 * hours }
    expect(opens([], '2026-11-27T00:00', [long])).toBe('never')
    expect(opens([], '2026-11-29T00:00', [long])).toMatch(/^Wed 27 Jan, 00:00; freeze/)
  })

  const storefront = { id: 'proj_1', name: 'Storefront' }
  const [byId, byName] = [
    { ids: ['proj_1'], names: [] },
    { ids: [], names: ['Storefront'] },
  ]

  it.each<[Partial<Freeze>, kind: string, Project, holds: boolean]>([
    [{}, 'key.create', 'none', true],
    [{}, 'ip.move', 'unknown', true],
    [{ changes: ['ip.move'] }, 'ip.move', storefront, true],
    [{ changes: ['ip.move'] }, 'vm.rename', storefront, false],
    [{ projects: byId }, 'ip.move', storefront, true],
    [{ projects: byId }, 'ip.move', { id: 'proj_2', name: 'proj_1' }, false],
    [{ projects: byId }, 'key.create', 'none', false],
    [{ projects: byName }, 'ip.move', storefront, true],
    [{ projects: byName }, 'ip.move', { id: 'proj_2', name: 'Billing' }, false],
    // A missing answer is never laxer.
    [{ projects: byName }, 'ip.move', { id: 'proj_2' }, true],
    [{ projects: byId }, 'ip.move', 'unknown', true],
    [{ changes: ['ip.move'], projects: byId }, 'vm.rename', 'unknown', false],
  ])('%j holds %s of %j: %s', (more, kind, project, holds) => {
    const found = holdsOf({ windows: [], freezes: [{ ...sales, ...more }] }, { kind, project }, sales.from)
    expect(found).toEqual(holds ? [{ by: 'freeze', name: 'sales', until: sales.to, from: sales.from }] : [])
  })
})

describe('in any zone, around any change of its clock', () => {
  const zones = [
    'UTC',
    lisbon,
    'America/New_York',
    'America/Santiago',
    'Africa/Cairo',
    'Australia/Lord_Howe',
    'Asia/Kathmandu',
    'Atlantic/Azores',
  ]

  /** The changes of the clock in a zone, and the begin of a leap day. */
  function changesIn(zone: string): number[] {
    const changes = [Date.UTC(2028, 1, 29)]
    let time: Temporal.ZonedDateTime | null = Temporal.Instant.from('2026-01-01T00:00Z').toZonedDateTimeISO(zone)
    while (time && time.year < 2029) {
      time = time.getTimeZoneTransition('next')
      if (time) changes.push(time.epochMilliseconds)
    }
    return changes
  }

  /** Windows and freezes that begin and end near a change of the clock, and a time at most three days before it. */
  const situation = fc
    .constantFrom(...zones)
    .chain((zone) => fc.record({ zone: fc.constant(zone), change: fc.constantFrom(...changesIn(zone)) }))
    .chain(({ zone, change }) => {
      const quarters = fc.integer({ min: -10, max: 10 }).map((count) => count * 15)
      const near = quarters.map((count) => change + count * minutes)
      // Also times that the clock skips.
      const clock = Temporal.Instant.fromEpochMilliseconds(change).toZonedDateTimeISO(zone).toPlainTime()
      const shown = quarters.map((count) => clock.add({ minutes: count }).toString({ smallestUnit: 'minute' }))
      const window = fc.record({
        name: fc.constantFrom('a', 'b'),
        days: fc.subarray([1, 2, 3, 4, 5, 6, 7], { minLength: 1 }),
        from: shown,
        to: shown,
        zone: fc.constantFrom(zone, zone, zone, 'UTC'),
      })
      const freeze = fc.record({ name: fc.constant('f'), from: near, to: near }).filter(({ from, to }) => from < to)
      return fc.record({
        at: fc.integer({ min: -3 * 24 * 60, max: 3 * 60 }).map((by) => change + by * minutes),
        windows: fc.oneof(fc.tuple(window), fc.array(window, { maxLength: 2 })),
        freezes: fc.array(freeze, { maxLength: 1 }),
      })
    })

  /** Says the same as the code, minute by minute and in other words. */
  function mayStart({ windows, freezes }: Hours, time: number): boolean {
    const isOpen = ({ days, from, to, zone }: Window) => {
      const local = Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(zone).toPlainDateTime()
      return [0, 1].some((daysAgo) => {
        const day = local.toPlainDate().subtract({ days: daysAgo })
        const end = day.add({ days: to <= from ? 1 : 0 }).toPlainDateTime(to)
        const isAfterBegin = Temporal.PlainDateTime.compare(day.toPlainDateTime(from), local) <= 0
        return days.includes(day.dayOfWeek) && isAfterBegin && Temporal.PlainDateTime.compare(local, end) < 0
      })
    }
    return windows.every(isOpen) && !freezes.some(({ from, to }) => from <= time && time < to)
  }

  test('the earliest start is allowed, and nothing before it', () => {
    const samples = fc.array(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), { maxLength: 5 })
    let held = 0
    fc.assert(
      fc.property(situation, samples, ({ at, ...rules }, anywhere) => {
        const start = earliestStart(rules, move, at)
        const span = (Math.min(start.at, at + 60 * 24 * hours) - at) / minutes
        const near = [1, 15, 30, 45, 60, 75, 90]
        for (const after of [0, ...near.map((before) => span - before), ...anywhere.map((sample) => Math.floor(sample * span))])
          if (after >= 0 && after < span) expect([after, mayStart(rules, at + after * minutes)]).toEqual([after, false])
        if (start.at === Number.POSITIVE_INFINITY) return
        expect([start.at, mayStart(rules, start.at)]).toEqual([start.at, true])
        expect(holdsOf(rules, move, start.at)).toEqual([])
        expect(start.holds.every(({ until }) => until > at && until <= start.at)).toBe(true)
        expect(start.at === at).toBe(start.holds.length === 0)
        if (start.holds.length > 0) held++
      }),
      { numRuns: 200 },
    )
    expect(held).toBeGreaterThan(100)
  })

  test('a later request never starts earlier', () => {
    fc.assert(
      fc.property(situation, fc.integer({ min: 1, max: 10_000 }), ({ at, ...rules }, later) => {
        const [first, second] = [at, at + later * minutes].map((time) => earliestStart(rules, move, time).at)
        // After 60 days, a start that was not found before can be.
        if (first !== Number.POSITIVE_INFINITY) expect(second).toBeGreaterThanOrEqual(first ?? 0)
      }),
      { numRuns: 150 },
    )
  })
})
