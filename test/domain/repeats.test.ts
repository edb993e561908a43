import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createRepeats } from '../../src/domain/repeats.ts'

const minuteMs = 60_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function setUp() {
  const reported: string[] = []
  const repeats = createRepeats()
  const note = (name: string) => repeats.note(name, (count) => reported.push(`${name} (${count} more)`))
  return { reported, repeats, note }
}

describe('something that recurs', () => {
  test('is reported at once, and then once a minute with its repeats', () => {
    const { reported, note } = setUp()

    for (let second = 0; second < 90; second += 1) {
      for (let time = 0; time < 4; time += 1) note('away')
      vi.advanceTimersByTime(1_000)
    }
    expect(reported).toEqual(['away (0 more)', 'away (239 more)'])
    vi.advanceTimersByTime(5 * minuteMs)

    expect(reported.slice(2)).toEqual(['away (359 more)'])
  })

  test('is reported at once again if it begins again', () => {
    const { reported, note } = setUp()
    for (let time = 0; time < 2; time += 1) note('away')
    vi.advanceTimersByTime(2 * minuteMs)

    note('away')

    expect(reported).toEqual(['away (0 more)', 'away (1 more)', 'away (0 more)'])
  })

  test('is over at once for somebody who knows', () => {
    const { reported, repeats, note } = setUp()
    note('away')
    vi.advanceTimersByTime(2_000)
    note('away')

    expect(repeats.end('away')).toEqual({ repeats: 1, afterMs: 2_000 })
    expect(repeats.end('away')).toBeUndefined()
    vi.advanceTimersByTime(2 * minuteMs)

    expect(reported).toEqual(['away (0 more)'])
  })

  test('is reported before the process ends', () => {
    const { reported, repeats, note } = setUp()
    for (let time = 0; time < 3; time += 1) note('away')

    repeats.flush()
    repeats.flush()
    vi.advanceTimersByTime(2 * minuteMs)

    expect(reported).toEqual(['away (0 more)', 'away (2 more)'])
  })
})

test('something that happens once has one line', () => {
  const { reported, note } = setUp()

  note('a bug')
  vi.advanceTimersByTime(5 * minuteMs)

  expect(reported).toEqual(['a bug (0 more)'])
})

test('different things do not hide each other', () => {
  const { reported, note } = setUp()

  for (const name of ['away', 'a bug', 'away']) note(name)

  expect(reported).toEqual(['away (0 more)', 'a bug (0 more)'])
})

test('the repeats of more than 1,000 things are not held back, so that memory has a limit and nothing is lost', () => {
  const { reported, note } = setUp()

  for (let round = 0; round < 2; round += 1) for (let thing = 0; thing < 1_010; thing += 1) note(`thing ${thing}`)

  expect(reported).toHaveLength(1_010 + 10)
})
