import type { KnownBlock } from '@slack/web-api'

/** Up to how many ms each bar counts. Most moves take half a minute. More names of bars do not fit on a phone. */
const bars = [
  { label: '0–10\u00a0s', to: 10_000 },
  { label: '10–30\u00a0s', to: 30_000 },
  { label: '30–60\u00a0s', to: 60_000 },
  { label: '1–5\u00a0min', to: 300_000 },
  { label: '5\u00a0min+', to: Number.POSITIVE_INFINITY },
]

/**
 * Draws how many took how long. Words have to stand beside it: an old app of Slack shows nothing in its place. `times`: in ms.
 *
 * docs.slack.dev, "Data visualization block": a title of 50 characters, names of 20, and one value for each name. Messages only.
 */
export function timesChart(title: string, times: number[]): KnownBlock {
  const data = bars.map(({ label, to }, bar) => {
    const from = bars[bar - 1]?.to ?? Number.NEGATIVE_INFINITY
    return { label, value: times.filter((ms) => ms > from && ms <= to).length }
  })
  const axes = { categories: data.map(({ label }) => label), x_label: 'Time', y_label: 'Moves' }
  const chart = { type: 'bar', series: [{ name: 'Moves', data }], axis_config: axes }
  // @slack/types 3.2 does not know the block yet.
  return { type: 'data_visualization', title, chart } as unknown as KnownBlock
}
