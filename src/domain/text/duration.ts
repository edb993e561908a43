const unitMs: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses `500ms`, `5s`, `15m`, `4h` or `2d` to milliseconds. Returns undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = /^([1-9]\d{0,8})(ms|s|m|h|d)$/.exec(text.trim()) ?? []
  const factor = unitMs[unit ?? '']
  return factor === undefined ? undefined : Number(amount) * factor
}

/** Writes a duration as people write it in the configuration, in the largest unit that needs no rounding: `30m`. */
export function writeDuration(ms: number): string {
  const units = Object.entries(unitMs).toReversed()
  const [unit, factor] = units.find(([, factor]) => ms % factor === 0) ?? ['ms', 1]
  return `${ms / factor}${unit}`
}

/** Formats a duration for people: `43 s`, `2 min 05 s`, `1 h 12 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  const seconds = Math.round(Math.max(0, ms) / 1_000)
  if (seconds < 60) return withUnit(seconds, 's')
  if (seconds < 3_600) return twoParts(Math.floor(seconds / 60), 'min', seconds % 60, 's')
  const minutes = Math.round(seconds / 60)
  if (minutes < 1_440) return twoParts(Math.floor(minutes / 60), 'h', minutes % 60, 'min')
  const hours = Math.round(minutes / 60)
  return twoParts(Math.floor(hours / 24), 'd', hours % 24, 'h')
}

/** Says in whole units how long ago something was: `2 days ago`, `1 hour ago`, `less than a minute ago`. */
export function formatAgo(ms: number): string {
  return `${formatAge(ms)} ago`
}

/** Says an age in whole units: `2 days`, `1 hour`, `less than a minute`. */
export function formatAge(ms: number): string {
  const minutes = Math.floor(Math.max(0, ms) / 60_000)
  if (minutes < 1) return 'less than a minute'
  if (minutes < 60) return counted(minutes, 'minute')
  if (minutes < 1_440) return counted(Math.floor(minutes / 60), 'hour')
  return counted(Math.floor(minutes / 1_440), 'day')
}

function counted(number: number, unit: string): string {
  return `${number} ${unit}${number === 1 ? '' : 's'}`
}

function twoParts(large: number, largeUnit: string, small: number, smallUnit: string): string {
  const first = withUnit(large, largeUnit)
  return small === 0 ? first : `${first} ${withUnit(smallUnit === 's' ? String(small).padStart(2, '0') : small, smallUnit)}`
}

/** Joins a number and the sign of its unit by a no-break space, so that no phone breaks the line between them. */
export function withUnit(amount: number | string, unit: string): string {
  return `${amount}\u00a0${unit}`
}
