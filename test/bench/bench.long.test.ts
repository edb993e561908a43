import { expect, test } from 'vitest'
import { benchmarks } from './main.ts'
import { judged, median, quick, ratio } from './measure.ts'

test.each(Object.entries(benchmarks))('the benchmark %s runs to its end, and no figure is missing', async (_, { run }) => {
  const cells = (await run(quick)).split('\n').flatMap((line) => line.split(' | '))

  expect(cells.filter((cell) => /^[\d.,]+$/.test(cell)).length).toBeGreaterThan(1)
  expect(cells.filter((cell) => /^(–|NaN|undefined|-?Infinity)$/.test(cell))).toEqual([])
})

test('a ratio is the median over the rounds, so that a disturbed round counts once', () => {
  expect(median([4, 1, 3, 2])).toBe(2.5)
  expect(ratio([2, 30, 3], [1, 10, 2], (figure) => figure)).toBe(2)
  expect(judged(1.36, 1.35)).toEqual(['≤ 1.35', 'missed'])
})
