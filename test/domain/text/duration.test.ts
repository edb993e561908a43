import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatAgo, formatDuration, parseDuration, withUnit, writeDuration } from '../../../src/domain/text.ts'

describe('a duration in the configuration', () => {
  it.each([
    ['500ms', 500],
    ['5s', 5_000],
    ['15m', 900_000],
    ['4h', 14_400_000],
    ['2d', 172_800_000],
  ])('%s is %i ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it.each(['', '5', 's', '0s', '-5s', '1.5h', '5 s', '5S', '1h30m', '5s\u0000', '٥s', '9999999999ms'])('%j is not a duration', (text) => {
    expect(parseDuration(text)).toBeUndefined()
  })

  it.each([500, 5_000, 900_000, 1_500, 5_400_000, 172_800_000])('of %i ms is written as it is read', (ms) => {
    expect(parseDuration(writeDuration(ms))).toBe(ms)
  })

  it('is its number times its unit', () => {
    const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 999_999_999 }),
        fc.constantFrom(...(Object.keys(units) as (keyof typeof units)[])),
        (amount, unit) => {
          expect(parseDuration(`${amount}${unit}`)).toBe(amount * units[unit])
        },
      ),
    )
  })
})

describe('a duration for people', () => {
  it('has no place to break a line between a number and its unit', () => {
    expect(formatDuration(43_000)).toBe('43\u00a0s')
    expect(formatDuration(4_320_000)).toBe('1\u00a0h 12\u00a0min')
    expect(withUnit(18, 'ms')).toBe('18\u00a0ms')
  })

  it.each([
    [0, '0 s'],
    [-5, '0 s'],
    [43_400, '43 s'],
    [59_600, '1 min'],
    [125_000, '2 min 05 s'],
    [900_000, '15 min'],
    [3_599_700, '1 h'],
    [4_320_000, '1 h 12 min'],
    [14_400_000, '4 h'],
    [86_390_000, '1 d'],
    [273_600_000, '3 d 4 h'],
  ])('%i ms is %s', (ms, text) => {
    expect(formatDuration(ms).replaceAll('\u00a0', ' ')).toBe(text)
  })

  it('is exact to half of its smallest unit, and never shows 60 seconds, 60 minutes or 24 hours', () => {
    const parts: Record<string, number> = { s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 }
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100 * 86_400_000 }), (ms) => {
        const text = formatDuration(ms)

        const shown = [...text.matchAll(/(\d+)\u00a0(s|min|h|d)/g)].map(([, amount, unit = '']) => ({ amount: Number(amount), unit }))
        const total = shown.reduce((sum, { amount, unit }) => sum + amount * (parts[unit] ?? Number.NaN), 0)
        const tolerance = ms < 3_600_000 ? 500 : ms < 86_370_000 ? 30_500 : 1_830_500
        expect(Math.abs(total - ms)).toBeLessThanOrEqual(tolerance)
        for (const { amount, unit } of shown) expect(amount).toBeLessThan({ s: 60, min: 60, h: 24 }[unit] ?? 1_000)
      }),
    )
  })
})

describe('how long ago something was', () => {
  it.each([
    [-5, 'less than a minute ago'],
    [59_000, 'less than a minute ago'],
    [60_000, '1 minute ago'],
    [3_599_000, '59 minutes ago'],
    [3_600_000, '1 hour ago'],
    [23 * 3_600_000, '23 hours ago'],
    [24 * 3_600_000, '1 day ago'],
    [281.4 * 24 * 3_600_000, '281 days ago'],
  ])('%i ms is %s', (ms, words) => {
    expect(formatAgo(ms)).toBe(words)
  })
})
