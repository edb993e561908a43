import fc from 'fast-check'
import { Temporal } from 'temporal-polyfill'
import { afterEach, describe, expect, it, test } from 'vitest'
import { isStart, isZone, longestAheadMs, readLocalTime, readStart, type Start, timeWords } from '../../src/domain/times.ts'
import { anyText } from '../any-text.ts'
import { expectDocument } from '../messages/documents.ts'

const lisbon = 'Europe/Lisbon'

const at = (local: string, zone = lisbon) => Temporal.PlainDateTime.from(local).toZonedDateTime(zone).epochMilliseconds

/** Friday noon. */
const friday = at('2026-11-27T12:00')

function words(start: Start, zone: string): string {
  if ('at' in start) return timeWords(start.at, zone)
  const { code, ...times } = start.problem
  return [code, ...Object.entries(times).map(([name, time]) => `${name} ${timeWords(time, zone)}`)].join(', ')
}

describe('a start', () => {
  /** What people type, apart by bars. */
  const texts = {
    'A time': `at 22:00 | 22:00 | 6:30 | 12:00 | 11:59 | 12:01 | 6 | at 6 | 24 | 6am | 10 PM | 6 a.m. | noon | at midnight |
      9 o'clock`,
    'A day and a time': `today 6pm | today at 11:00 | tonight at 22:00 | tonight at 10 | 6pm tonight | tomorrow 6am | tomorrow at 6 |
      at tomorrow 6am | tomorrow, 22:00 | 22:00 tomorrow | tomorrow morning at 9 | this evening at 8 | this morning at 9 |
      9 in the morning | the day after tomorrow 6am | in 2 days at 6:00`,
    'A day of the week': `mon 09:00 | on Monday at 9 | 6:30pm on friday | fri 11:59 | fri 12:00 | sun 22:00 | next fri 09:00 |
      last monday 9:00 | noon on monday`,
    'A date': `at 2026-12-01 06:00 | 2026-12-01T06:00 | 06:00 2026-12-01 | 1 dec 06:00 | Dec 1 at 6pm | Tue 1 Dec, 06:00 |
      2026-12-11 12:00 | 2026-12-11 12:01 | 2026-11-01 06:00 | jan 2 06:00 | Dec 10 18:00 | Dec 10 at 6pm |
      at dec 10, 6.30pm |
      01.12.2026 06:00 | at 5.12.2026 10:00 | 06:00 24.12.2026 | 2026/12/05 06:00 | 30/11/2026 06:00 | 11/30/2026 06:00 | 12/12/2026 06:00 |
      05/12/2026 06:00 | 5/12 06:00 | 06:00 05-12-2026`,
    UTC: `22:00 UTC | 2026-12-01T06:00Z | tomorrow 6am utc`,
    'Elapsed time': `in 2h | in 90 minutes | in 90min | in 1 h 30 min | in 1 hour and 30 minutes | in an hour | in half an hour |
      in 1.5 hours | in 90s | in 500ms | in 3 days | in 1 week | IN 14D | in 15d | in 0m`,
    'A day without a time': `tomorrow | tonight | monday | 2026-12-01 | this afternoon | tomorrow morning`,
    'What is not understood': ` | in 99999999999999d | soon | now | 25:00 | at 25:00 | 22:60 | 2200 | 22h | 2h | in 2 | in 2 parsecs |
      in 2h please | 22:00 please | please 22:00 | 22:00 22:00 | 22:00-23:00 | mon and fri 22:00 | tonight at 1:00 |
      tomorrow night at 1 | mon 1 dec 06:00 | 2026-02-30 06:00 | 22:00 CET | 2026-12-01T06:00+02:00 | 22:00 Europe/Lisbon |
      this week 06:00 | december 06:00 | next month 6:00 | 2 hours from now | +15 minutes | 2 hours after tomorrow 6am |
      22:00${' tomorrow'.repeat(20)}`,
  }

  it('is what the document says, on Friday at noon in Lisbon', async () => {
    const situations = Object.entries(texts).map(([what, all]): [string, string] => [
      what,
      all
        .split(/ ?\|\s+/)
        .map((text) => `${JSON.stringify(text)}: ${words(readStart(text, { now: friday, zone: lisbon }), lisbon)}`)
        .join('\n'),
    ])
    await expectDocument('starts.md', 'When a change starts, by what was typed on Fri 27 Nov 2026 at 12:00 in Lisbon', situations)
  })

  it.each([
    // In Lisbon, the clock goes forward from 01:00 to 02:00 on 28 March 2027, and back from 02:00 to 01:00 on 31 October 2027.
    ['01:30', '2027-03-27T23:00', 'Sun 28 Mar, 02:30 (Europe/Lisbon)'],
    ['2027-03-28 01:00', '2027-03-20T12:00', 'Sun 28 Mar, 02:00 (Europe/Lisbon)'],
    ['02:00', '2027-03-27T23:00', 'Sun 28 Mar, 02:00 (Europe/Lisbon)'],
    ['01:30', '2027-03-28T03:00', 'Mon 29 Mar, 01:30 (Europe/Lisbon)'],
    ['01:30', '2027-10-30T23:00', 'Sun 31 Oct, 01:30 (Europe/Lisbon)'],
    ['00:30 UTC', '2027-10-30T23:00', 'Sun 31 Oct, 01:30 (Europe/Lisbon)'],
    ['02:00', '2027-10-30T23:00', 'Sun 31 Oct, 02:00 (Europe/Lisbon)'],
    // Elapsed time has nothing to do with clocks.
    ['in 2h', '2027-03-28T00:30', 'Sun 28 Mar, 03:30 (Europe/Lisbon)'],
    ['in 2h', '2027-10-31T00:30', 'Sun 31 Oct, 01:30 (Europe/Lisbon)'],
  ])('on days on which the clock changes, %s at %s: %s', (text, now, expected) => {
    expect(words(readStart(text, { now: at(now), zone: lisbon }), lisbon)).toBe(expected)
  })

  it('at a time that exists twice is the first one, and the second once that is past', () => {
    const first = Temporal.Instant.from('2027-10-31T00:30Z').epochMilliseconds
    const reading = (now: number) => readStart('01:30', { now, zone: lisbon })

    expect(reading(first - 1)).toEqual({ at: first })
    expect(reading(first)).toEqual({ at: first + 3_600_000 })
  })

  it.each(['Pacific/Auckland', 'America/Los_Angeles', 'Asia/Kolkata', 'UTC'])('is read by the day of the zone, %s', (zone) => {
    const now = Date.UTC(2026, 10, 27, 11, 30)
    const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone).toPlainDate()

    expect(readStart('tomorrow 22:00', { now, zone })).toEqual({ at: at(`${today.add({ days: 1 })}T22:00`, zone) })
  })
})

test.each(['Dec 10 18:00', 'at Dec 10 6pm', '24.12.2026 18:00'])('%s is a start in any zone', (text) => {
  expect(isStart(text)).toBe(true)
})

describe('whatever the clock of the process', () => {
  const { TZ } = process.env
  afterEach(() => {
    if (TZ === undefined) delete process.env.TZ
    else process.env.TZ = TZ
  })

  const zones = ['UTC', lisbon, 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Kiritimati']
  const minute = fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2028, 0) }).map((ms) => ms - (ms % 60_000))

  it('a time that is shown is read as the same time', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.constantFrom(...zones),
        minute,
        fc.integer({ min: 1, max: 20_160 }),
        (process_, zone, now, ahead) => {
          process.env.TZ = process_
          const start = now + ahead * 60_000
          const local = Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO(zone)
          const day = Math.min(
            local.toPlainDate().since(Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone).toPlainDate()).days,
            2,
          )
          const time = local.toPlainTime().toString({ smallestUnit: 'minute' })
          const shown = timeWords(start, zone).replace(/ \(.*/, '')
          for (const text of [`${local.toPlainDate()} ${time}`, shown, `${['today', 'tomorrow', shown.slice(0, -7)][day]} at ${time}`]) {
            const read = readStart(text, { now, zone })
            const at = 'at' in read ? read.at : Number.NaN
            const isShownAgain = timeWords(at, zone) === timeWords(start, zone)
            expect([text, isShownAgain]).toEqual([text, true])
            seen.add(at === start ? 'the same' : 'the other of two')
          }
        },
      ),
      { numRuns: 400, examples: [750, 810].map((ahead) => [lisbon, lisbon, Date.UTC(2026, 9, 24, 12), ahead]) },
    )
    expect([...seen].toSorted()).toEqual(['the other of two', 'the same'])
  })

  it('any text gives a time within 14 days or a problem', () => {
    const piece = fc.constantFrom(
      ...'at in on today tonight tomorrow mon friday next last this 22:00 6am 6 pm noon 1 dec 2026-12-01 2h 90 minutes half an hour , - UTC Z 25:00 and week month after now morning'.split(
        ' ',
      ),
    )
    const typed = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(' '))
    fc.assert(
      fc.property(fc.oneof(typed, anyText()), fc.constantFrom(...zones), minute, (text, zone, now) => {
        const read = readStart(text, { now, zone })
        if ('at' in read) expect(read.at > now && read.at <= now + longestAheadMs && Number.isInteger(read.at)).toBe(true)
        if ('at' in read) expect(isStart(text)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})

test.each([
  [lisbon, true],
  ['UTC', true],
  ['Asia/Calcutta', true],
  ['+02:00', true],
  ['Mars/Base', false],
  ['', false],
  ['2026-01-01T00:00[Europe/Lisbon]', false],
])('%j is a zone: %s', (zone, expected) => {
  expect(isZone(zone)).toBe(expected)
})

test.each([
  ['2026-11-27T00:00', '2026-11-27T00:00Z', '2026-11-27T00:00Z'],
  ['2026-11-27 08:30', '2026-11-27T08:30Z', '2026-11-27T08:30Z'],
  ['2027-03-28T01:30', '2027-03-28T00:30Z', '2027-03-28T01:30Z'],
  ['2027-10-31T01:30', '2027-10-31T00:30Z', '2027-10-31T01:30Z'],
  ['2026-02-29T00:00', undefined, undefined],
  ['2028-02-29T00:00', '2028-02-29T00:00Z', '2028-02-29T00:00Z'],
  ['2026-11-27', undefined, undefined],
  ['2026-11-27T24:00', undefined, undefined],
  ['2026-11-27T00:00Z', undefined, undefined],
  ['27.11.2026 00:00', undefined, undefined],
])('the local time %s is from %s to %s', (text, earlier, later) => {
  const instant = (iso: string | undefined) => iso && Temporal.Instant.from(iso).epochMilliseconds
  expect([readLocalTime(text, lisbon, 'earlier'), readLocalTime(text, lisbon, 'later')]).toEqual([instant(earlier), instant(later)])
})
