import { expect, test } from 'vitest'
import { timesChart } from '../../src/slack/chart.ts'
import { problemsWithBlocks } from '../sandbox/slack/validate-blocks.ts'

test('each time is in one bar, and the last one holds all that took longer', () => {
  const block = timesChart('How long moves take', [0, 10_000, 10_001, 41_000, 300_000, 900_000])

  expect(problemsWithBlocks([block])).toEqual([])
  const data = [2, 1, 1, 1, 1].map((value) => expect.objectContaining({ value }))
  expect(block).toMatchObject({ chart: { series: [{ data }] } })
})
