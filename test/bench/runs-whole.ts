import { expect } from 'vitest'
import { benchmarks } from './main.ts'
import { quick } from './measure.ts'

/** Runs a benchmark once, quickly. No figure of its table may be missing. */
export async function expectWhole(name: string): Promise<void> {
  const cells = (await benchmarks[name]?.run(quick))?.split('\n').flatMap((line) => line.split(' | ')) ?? []

  expect(cells.filter((cell) => /^[\d.,]+$/.test(cell)).length).toBeGreaterThan(1)
  expect(cells.filter((cell) => /^(–|NaN|undefined|-?Infinity)$/.test(cell))).toEqual([])
}
