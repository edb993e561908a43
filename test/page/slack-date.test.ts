import { expect, test } from 'vitest'
import { formatSlackDate } from '../sandbox/page/slack-date.ts'

const now = new Date(2026, 10, 21, 14, 30)
const at = (...parts: [number, number, number, number?, number?]) => new Date(...parts).getTime() / 1000

test.each([
  ['{date_short_pretty} at {time}', at(2026, 10, 21, 9, 5), 'today at 9:05 AM'],
  ['{date_long_pretty}', at(2026, 10, 20), 'yesterday'],
  ['{date_pretty}', at(2026, 10, 22), 'tomorrow'],
  ['{date_short}', at(2026, 10, 3), 'Nov 3, 2026'],
  ['{date_num} {time_secs}', at(2026, 0, 2, 3, 4), '2026-01-02 3:04:00 AM'],
  ['{day_divider_pretty}', at(2025, 10, 3), 'Monday, November 3, 2025'],
  ['{ago}', at(2026, 10, 21, 14, 25), '5 minutes ago'],
  ['{unknown}', at(2026, 10, 21), '{unknown}'],
])('%s', (format, seconds, expected) => {
  expect(formatSlackDate(seconds, format, now, 'en-US').replaceAll('\u202f', ' ')).toBe(expected)
})
