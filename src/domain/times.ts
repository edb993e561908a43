import { casual, GB, type ParsedResult } from 'chrono-node/en'
import { Temporal } from 'temporal-polyfill'
import { parseDuration } from './text.ts'

/** How far ahead a change can be started, in milliseconds. */
export const longestAheadMs = 14 * 86_400_000

/** Why a start was not understood, or cannot be. All times in ms since 1970. */
export type StartProblem =
  | { code: 'unreadable' | 'ambiguous' }
  | { code: 'past'; at: number }
  | { code: 'too-far'; at: number; latest: number }

export type Start = { at: number } | { problem: StartProblem }

/** Reads when a change has to start: `at 22:00`, `in 2h`, `tomorrow 6am`, `mon 09:00 UTC`. A time without a day is the next one in the zone. */
export function readStart(
  text: string,
  { now, zone, longestMs = longestAheadMs }: { now: number; zone: string; longestMs?: number },
): Start {
  const typed = oneSpaced(text)
  const place = isUtc.test(typed) ? 'UTC' : zone
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(place).toPlainDate()
  const read = understand(typed, today)
  if ('code' in read) return { problem: read }
  const within = (at: number) => inTime(at, now, longestMs)
  if ('ms' in read) return within(now + read.ms)

  const [hour = 0, minute = 0, second = 0] = (['hour', 'minute', 'second'] as const).map((unit) => read.get(unit) ?? 0)
  const times = datesOf(read, typed, today).map((date) => {
    const local = date.toPlainDateTime({ hour, minute, second })
    // As calendars read it: a time that the clock skips comes as much later, and of one that it shows twice the first counts, until that is past.
    return (['compatible', 'later'] as const).map((which) => instantOf(local, place, which))
  })
  const at = times.flat().find((each) => each > now) ?? times.at(-1)?.[0]
  return at === undefined ? { problem: { code: 'unreadable' } } : within(at)
}

/** Whether a text can be read as a start in any zone, even as one that is past, too far away or ambiguous. */
export function isStart(text: string): boolean {
  const read = understand(oneSpaced(text), Temporal.PlainDate.from('2026-01-01'))
  return !('code' in read) || read.code === 'ambiguous'
}

/** Whether it is an elapsed time, such as `30d` or `2 hours`. */
export function isElapsed(text: string): boolean {
  return readElapsed(text) !== undefined
}

function inTime(at: number, now: number, longestMs: number): Start {
  if (at <= now) return { problem: { code: 'past', at } }
  const latest = now + longestMs
  return at > latest ? { problem: { code: 'too-far', at, latest } } : { at }
}

const oneSpaced = (text: string) => text.trim().replace(/\s+/g, ' ')

/** Longer texts are no times, and take a parser of many patterns long. */
const longestStart = 100

type Parts = ParsedResult['start']

/** Some write the day first, others the month. */
const slashDate = /(?<![\d/-])\d{1,2}[/-]\d{1,2}(?!\d)/

/** All write the day first. */
const dottedDate = /\d\.\d{1,2}\.\d/

const isUtc = /(?: UTC|\dZ)$/i

/** `ms`: elapsed time. Otherwise the parts of a date and a time, of which the hour is certain. */
function understand(typed: string, today: Temporal.PlainDate): { ms: number } | Parts | { code: 'unreadable' | 'ambiguous' } {
  const unreadable = { code: 'unreadable' } as const
  if (typed.length > longestStart) return unreadable
  const ms = /^in /i.test(typed) ? readElapsed(typed.slice(3)) : undefined
  if (ms !== undefined) return { ms }
  const bare = typed
    .replace(/^(?:at|on) /i, '')
    .replace(isUtc, (sign) => sign.replace(/ UTC|Z/i, ''))
    .replace(/^\d{1,2}$/, '$&:00')
  // The parser computes with the clock of this process. At noon, no change of that clock reaches its days.
  // The parser of British dates does not know `Dec 24 18:00`.
  const [found, ...others] = (dottedDate.test(bare) ? GB : casual).parse(bare, new Date(today.year, today.month - 1, today.day, 12))
  if (!found || others.length > 0 || found.text !== bare || found.end) return unreadable
  const { start } = found
  // A zone by its abbreviation is a guess, and what is relative to now would be relative to noon.
  if (start.isCertain('timezoneOffset') || !start.isCertain('hour')) return unreadable
  const [day, month] = [start.get('day') ?? 0, start.get('month')]
  if (slashDate.test(bare) && day <= 12 && day !== month) return { code: 'ambiguous' }
  // `tonight at 1:00` was read as 13:00.
  const isEvening = ['tonight', 'evening'].some((word) => start.tags().has(`casualReference/${word}`))
  return isEvening && [12, 13, 14, 15, 16].includes(start.get('hour') ?? 0) ? unreadable : start
}

/** The dates that can be meant: the first one at which the time is not past is. Empty if the weekday contradicts the date. */
function datesOf(parts: Parts, typed: string, today: Temporal.PlainDate): Temporal.PlainDate[] {
  const [year = 0, month = 0, day = 0] = (['year', 'month', 'day'] as const).map((unit) => parts.get(unit) ?? 0)
  const date = new Temporal.PlainDate(year, month, day)
  const weekday = parts.isCertain('weekday') ? parts.get('weekday') : null
  const until = ((weekday ?? 0) - today.dayOfWeek + 7) % 7
  if (parts.isCertain('day')) return weekday === null || weekday === date.dayOfWeek % 7 ? [date] : []
  if (weekday !== null) return /\b(?:next|last|past)\b/i.test(typed) ? [date] : [until, until + 7].map((days) => today.add({ days }))
  // Only midnight is read as that of the next day. Another date comes from words such as `this week`.
  if (parts.isCertain('month') || !(date.equals(today) || parts.get('hour') === 0)) return []
  return /\bthis\b/i.test(typed) ? [today] : [0, 1, 2].map((days) => today.add({ days }))
}

const elapsed =
  /(?:(\d{1,6}(?:\.\d+)?) ?|(half an? )|an? )(ms|s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?)(?![a-z])/gi
const onlyElapsed = new RegExp(`^(?:${elapsed.source}(?:,? and |,? ?))+$`, 'i')

/** Reads `2h`, `90 minutes`, `1 h 30 min`, `half an hour`, `2 weeks` to milliseconds. */
function readElapsed(text: string): number | undefined {
  if (!onlyElapsed.test(text)) return undefined
  const parts = [...text.matchAll(elapsed)].map(([, amount, half, unit = '']) => {
    const first = unit.charAt(0).toLowerCase()
    const unitMs = parseDuration(/^ms$/i.test(unit) ? '1ms' : first === 'w' ? '7d' : `1${first}`) ?? 0
    return Number(amount ?? (half ? 0.5 : 1)) * unitMs
  })
  return Math.round(parts.reduce((sum, ms) => sum + ms, 0))
}

/** When a clock shows this local time. If it never does, the time is taken as far before (`earlier`) or after the change of the clock. */
function instantOf(local: Temporal.PlainDateTime, zone: string, disambiguation: 'compatible' | 'earlier' | 'later'): number {
  return local.toZonedDateTime(zone, { disambiguation }).epochMilliseconds
}

/** Parses `2026-11-27T00:00` in a zone that exists. Undefined if it is no date and time. `which`: what counts if the clock changes then. */
export function readLocalTime(text: string, zone: string, which: 'earlier' | 'later'): number | undefined {
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d$/.test(text)) return undefined
  try {
    return instantOf(Temporal.PlainDateTime.from(text), zone, which)
  } catch {
    return undefined
  }
}

/** Temporal would also take whole times with a zone in them. */
export function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }) !== undefined
  } catch {
    return false
  }
}

export const dayNames = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const
const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Shows a time in a zone where Slack cannot show it in the reader's: `Tue 1 Dec, 06:00 (Europe/Lisbon)`. A past one may be of another year. */
export function timeWords(at: number, zone: string, { hasYear = false } = {}): string {
  const time = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone)
  return `${dayNames[time.dayOfWeek - 1]} ${time.day} ${monthNames[time.month - 1]}${hasYear ? ` ${time.year}` : ''}, ${timeOfDay(time)} (${zone})`
}

/** `06:00`, without the seconds. */
export function timeOfDay(time: Temporal.ZonedDateTime): string {
  return time.toPlainTime().toString({ smallestUnit: 'minute' })
}
