import { expect, test } from 'vitest'
import { compareBenchmarks } from '../../scripts/compare-benchmarks.ts'

const run = (cpu: string, wall: string) => `A machine. 7 rounds.

## Acknowledging a command

c = 1:

|  | CPU | target |  | wall time |
| --- | ---: | ---: | ---: | ---: |
| Lockkeeper | ${cpu} | ≤ 1.8 | missed | ${wall} |

## Tracking moves

|  | commands |
| --- | ---: |
| Lockkeeper | 1,200 |
`

test('a figure that changed by more than runs usually differ is listed with its place', () => {
  expect(compareBenchmarks(run('1.50', '2.00'), run('1.80', '2.10'))).toMatchInlineSnapshot(`
    "|  | figure | last night | now | change |
    | --- | ---: | ---: | ---: | ---: |
    | Acknowledging a command, c = 1: Lockkeeper | CPU | 1.5 | 1.8 | +20 % |"
  `)
})

test('two nights without a change are one sentence', () => {
  expect(compareBenchmarks(run('1.50', '2.00'), run('1.52', '1.90'))).toMatchInlineSnapshot(`"No figure of 3 changed by more than 15 %."`)
})

test('a run that printed no table is an error', () => {
  expect(() => compareBenchmarks(run('1', '1'), 'Terminated')).toThrow('no table')
})
