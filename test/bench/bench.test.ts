import { expect, test } from 'vitest'
import { benchmarks } from './main.ts'
import { judged, median, ratio } from './measure.ts'
import { expectWhole } from './runs-whole.ts'

/** It compiles the bot: start-up.long.test.ts runs it. */
const costly = ['start-up']

test.each(Object.keys(benchmarks).filter((name) => !costly.includes(name)))(
  'the benchmark %s runs to its end, and no figure is missing',
  (name) => expectWhole(name),
)

test('a ratio is the median over the rounds, so that a disturbed round counts once', () => {
  expect(median([4, 1, 3, 2])).toBe(2.5)
  expect(ratio([2, 30, 3], [1, 10, 2], (figure) => figure)).toBe(2)
  expect(judged(1.36, 1.35)).toEqual(['≤ 1.35', 'missed'])
})
