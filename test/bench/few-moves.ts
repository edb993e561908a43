import type { Effort } from './effort.ts'
import { type Followed, follow } from './following.ts'
import { interleave, median } from './rounds.ts'
import { fixed, table } from './table.ts'

const ways = ['job per move, every 1 s', 'Lockkeeper'] as const

/** How long the report of the end of a move may take when few are under way, in ms. */
const mostLateMs = 1_200

/** Measures how soon the end of a few moves is reported, and at what cost, beside one job for each that reads it every second. */
export async function benchFewMoves({ quick, followRounds }: Effort, print: (table: string) => void): Promise<void> {
  for (const count of quick ? [2] : [1, 5]) {
    const moves = { count, meanMs: quick ? 4_000 : 20_000 }
    const found = await interleave(ways, followRounds, (way) =>
      way === 'Lockkeeper' ? follow('bot', { ...moves, intervalMs: 5_000 }) : follow('job per move', { ...moves, intervalMs: 1_000 }),
    )
    print(describe(moves, found))
  }
}

function describe({ count, meanMs }: { count: number; meanMs: number }, found: Record<(typeof ways)[number], Followed[]>): string {
  const of = (figure: (followed: Followed) => number, summary: (values: number[]) => number) =>
    ways.map((way) => fixed(summary(found[way].map(figure)), 0))
  const worst = (values: number[]) => Math.max(...values)
  const latest = worst(found.Lockkeeper.map(({ reportedP99 }) => reportedP99))
  const rows = [
    ['requests to the account API', ...of(({ lists, gets }) => lists + gets, median), '', ''],
    ['reported after the end, p50, ms', ...of(({ reportedP50 }) => reportedP50, median), '', ''],
    [
      'reported after the end, the latest of all rounds, ms',
      ...of(({ reportedP99 }) => reportedP99, worst),
      `≤ ${mostLateMs}`,
      latest <= mostLateMs ? 'met' : 'missed',
    ],
    [
      'reported, the least of all rounds',
      ...of(
        ({ reported }) => reported,
        (values) => Math.min(...values),
      ),
      `${count}`,
      '',
    ],
  ]
  return table([`N = ${count}, moves of ${meanMs / 2_000} to ${(meanMs * 1.5) / 1_000} s`, ...ways, 'target', ''], rows)
}
