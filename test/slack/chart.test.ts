import { expect, test } from 'vitest'
import { timesChart } from '../../src/slack/chart.ts'
import { problemsWithBlocks } from '../sandbox/slack/validate-blocks.ts'

interface Bars {
  chart: { series: { data: { label: string; value: number }[] }[] }
}

const seconds = (...counts: number[]) => counts.map((count) => count * 1_000)

/** The bars of a chart of these times, `0–10 s: 3`. Nine in ten took `nineInTen` seconds at most. */
function barsOf(times: number[], nineInTen: number): string[] {
  const block = timesChart('How long moves take', times, nineInTen * 1_000)
  if (!block) return []
  expect(problemsWithBlocks([block])).toEqual([])
  return (block as unknown as Bars).chart.series[0]?.data.map(({ label, value }) => `${label.replace('\u00a0', ' ')}: ${value}`) ?? []
}

test('the bars hold all times, and one holds those that took longer than nine in ten', () => {
  expect(barsOf(seconds(3, 10, 10.001, 41, 44, 50), 50)).toEqual(['0–10 s: 2', '10–20 s: 1', '20–30 s: 0', '30–40 s: 0', '40–50 s: 3'])
  expect(barsOf(seconds(3, 41, 50, 900), 50)).toEqual(['0–10 s: 1', '10–20 s: 0', '20–30 s: 0', '30–40 s: 0', '40–50 s: 2', '50 s+: 1'])
})

test('the bars are in seconds or minutes, and there are few, whatever the times', () => {
  expect(barsOf(seconds(90, 140), 140)).toEqual(['0–30 s: 0', '30–60 s: 0', '60–90 s: 1', '90–120 s: 0', '120–150 s: 1'])
  expect(barsOf(seconds(200, 700), 700)).toEqual(['0–5 min: 1', '5–10 min: 0', '10–15 min: 1'])
  expect(barsOf([0, 0, 1, 2, 3], 0.003)).toEqual(['0–1 s: 5'])
  for (const nineInTen of [1, 4, 9, 24, 76, 149, 151, 299, 599, 3_000, 9_000, 18_000]) {
    const times = [...seconds(nineInTen), 10 ** 9]
    expect(barsOf(times, nineInTen).length, `${nineInTen}`).toBeLessThanOrEqual(6)
  }
  expect(barsOf(seconds(18_001), 18_001)).toEqual([])
})
