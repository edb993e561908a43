import { expect, test } from 'vitest'
import { judged, median, quick, ratio } from './measure.ts'
import { benchTypedClient } from './typed-client.ts'

test('a benchmark runs to its end, with processes and tables', async () => {
  const text = await benchTypedClient({ ...quick, rounds: 1 })

  expect(text).toMatch(/\| 1,000 Elastic IPs, in pages of 100 \| \d+\.\d\d \| \d+\.\d\d \| \d+\.\d\d \| ≤ 1\.35 \| (met|missed) \|/)
  expect(text).toMatch(/\| 500 plans, in one answer \| \d+\.\d\d \|/)
})

test('a ratio is the median over the rounds, so that a disturbed round counts once', () => {
  expect(median([4, 1, 3, 2])).toBe(2.5)
  expect(ratio([2, 30, 3], [1, 10, 2], (figure) => figure)).toBe(2)
  expect(judged(1.36, 1.35)).toEqual(['≤ 1.35', 'missed'])
})
