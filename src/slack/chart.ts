import type { KnownBlock } from '@slack/web-api'
import { withUnit } from '../domain/text.ts'

/** In seconds. A bar is as wide as one of these. */
const widths = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1_800, 3_600]

/** As many names of bars fit on a phone, with one more for what took longer. */
const mostBars = 5

/**
 * Draws how many took how long, in bars that nine in ten of them fit in. Undefined if they took too long for that. Words have to stand beside it:
 * an old app of Slack shows nothing in its place. `times`: in ms, ascending. `nineInTen`: what nine in ten of them took at most.
 *
 * docs.slack.dev, "Data visualization block": a title of 50 characters, names of 20, at most 20 bars, and one value for each name. Messages only.
 */
export function timesChart(title: string, times: number[], nineInTen: number): KnownBlock | undefined {
  const width = widths.find((seconds) => seconds * 1_000 * mostBars >= nineInTen)
  if (width === undefined) return undefined
  const bars = Math.max(1, Math.ceil(nineInTen / (width * 1_000)))
  const [unit, unitS] = width * bars > 150 ? (['min', 60] as const) : (['s', 1] as const)
  const edge = (bar: number) => (bar * width) / unitS
  const counts = Map.groupBy(times, (ms) => Math.min(bars, Math.max(0, Math.ceil(ms / (width * 1_000)) - 1)))
  const data = Array.from({ length: counts.has(bars) ? bars + 1 : bars }, (_, bar) => ({
    label: bar === bars ? withUnit(edge(bar), `${unit}+`) : withUnit(`${edge(bar)}–${edge(bar + 1)}`, unit),
    value: counts.get(bar)?.length ?? 0,
  }))
  const axes = { categories: data.map(({ label }) => label), x_label: 'Time', y_label: 'Moves' }
  const chart = { type: 'bar', series: [{ name: 'Moves', data }], axis_config: axes }
  // @slack/types 3.2 does not know the block yet.
  return { type: 'data_visualization', title, chart } as unknown as KnownBlock
}
