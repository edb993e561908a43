import { Temporal } from 'temporal-polyfill'
import { parseDuration } from './text.ts'

/** How far ahead a change can be started, in milliseconds. */
export const longestAheadMs = 14 * 86_400_000

/** Why a start was not understood, or cannot be. All times in ms since 1970. */
export type StartProblem = { code: 'unreadable' } | { code: 'past'; at: number } | { code: 'too-far'; at: number; latest: number }

export type Start = { at: number } | { problem: StartProblem }

/**
 * Reads when a change has to start: `at 22:00`, `in 2h`, `tomorrow 6am`, `mon 09:00 UTC`. A time without a day is the next one in the zone.
 * On the days on which its clock changes, a time that exists twice is the first one, and one that is skipped is as far after the change.
 */
export function readStart(
  text: string,
  { now, zone, longestMs = longestAheadMs }: { now: number; zone: string; longestMs?: number },
): Start {
  const typed = oneSpaced(text)
  const place = utc.test(typed) ? 'UTC' : zone
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(place).toPlainDate()
  const read = understand(typed, today)
  const times = Array.isArray(read) ? read.map((local) => local.toZonedDateTime(place).epochMilliseconds) : [now + (read ?? 0)]
  const at = times.find((time) => time > now) ?? times.at(-1)
  if (read === undefined || at === undefined) return { problem: { code: 'unreadable' } }
  if (at <= now) return { problem: { code: 'past', at } }
  const latest = now + longestMs
  return at > latest ? { problem: { code: 'too-far', at, latest } } : { at }
}

/** Whether a text can be read as a start in any zone, even as one that is past or too far away. */
export function isStart(text: string): boolean {
  return understand(oneSpaced(text), Temporal.PlainDate.from('2026-01-01')) !== undefined
}

/** Whether it is an elapsed time, such as `30d` or `2 hours`. */
export function isElapsed(text: string): boolean {
  return readElapsed(text) !== undefined
}

const oneSpaced = (text: string) => text.trim().replace(/\s+/g, ' ')

/** No time is longer, and the pattern of elapsed times tries much on a long text. */
const longestStart = 100

const utc = / UTC$|(?<=\d)Z$/i
const day = '[a-z]{3,9}|\\d{4}-\\d\\d-\\d\\d'
const dayAndTime = new RegExp(
  `^(?:(?:at|on) )?(?:(${day})(?:,? (?:at )?|T))?(\\d\\d?)(?::(\\d\\d))? ?([ap]m)?(?:,? (?:on )?(${day}))?$`,
  'i',
)

/** The elapsed time in ms, or the local times that can be meant: the first one that is not past is. */
function understand(typed: string, today: Temporal.PlainDate): number | Temporal.PlainDateTime[] | undefined {
  if (typed.length > longestStart) return undefined
  const ms = /^in /i.test(typed) ? readElapsed(typed.slice(3)) : undefined
  if (ms !== undefined) return ms
  const [, before, hour, minute = '00', half, after] = dayAndTime.exec(typed.replace(utc, '')) ?? []
  if (hour === undefined || (before && after)) return undefined
  const named = (before ?? after)?.toLowerCase()
  const clock = half ? (Number(hour) % 12) + (/p/i.test(half) ? 12 : 0) : Number(hour)
  if ((half && (Number(hour) < 1 || Number(hour) > 12)) || (named === 'tonight' && clock < 12)) return undefined
  try {
    const time = Temporal.PlainTime.from({ hour: clock, minute: Number(minute) }, { overflow: 'reject' })
    return datesOf(named, today).map((date) => date.toPlainDateTime(time))
  } catch {
    return undefined
  }
}

const daysUntil = new Map(Object.entries({ yesterday: -1, today: 0, tonight: 0, tomorrow: 1 }))
const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']

/** Throws for a day that does not exist. */
function datesOf(named: string | undefined, today: Temporal.PlainDate): Temporal.PlainDate[] {
  const ahead = (...days: number[]) => days.map((count) => today.add({ days: count }))
  if (named === undefined) return ahead(0, 1)
  const known = daysUntil.get(named)
  if (known !== undefined) return ahead(known)
  const weekday = weekdays.findIndex((name) => name.startsWith(named))
  if (weekday < 0) return [Temporal.PlainDate.from(named)]
  const until = (weekday + 8 - today.dayOfWeek) % 7
  return ahead(until, until + 7)
}

const elapsed =
  /(?:(\d{1,6}(?:\.\d+)?) ?|(half an? )|an? )(ms|s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?)(?![a-z])/gi
const onlyElapsed = new RegExp(`^(?:${elapsed.source}(?:,? and |,? ?))+$`, 'i')

/** Reads `2h`, `90 minutes`, `1 h 30 min`, `half an hour` to milliseconds. */
function readElapsed(text: string): number | undefined {
  if (!onlyElapsed.test(text)) return undefined
  const parts = [...text.matchAll(elapsed)].map(([, amount, half, unit = '']) => {
    const unitMs = parseDuration(`1${/^ms$/i.test(unit) ? 'ms' : unit.charAt(0).toLowerCase()}`) ?? 0
    return Number(amount ?? (half ? 0.5 : 1)) * unitMs
  })
  return Math.round(parts.reduce((sum, ms) => sum + ms, 0))
}

/** Parses `2026-11-27T00:00` in a zone that exists. Undefined if it is no date and time. `disambiguation`: what counts if the clock changes then. */
export function readLocalTime(text: string, zone: string, disambiguation: 'earlier' | 'later'): number | undefined {
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d$/.test(text)) return undefined
  try {
    return Temporal.PlainDateTime.from(text).toZonedDateTime(zone, { disambiguation }).epochMilliseconds
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

/** Shows a time in a zone where Slack cannot show it in the reader's: `Tue 1 Dec, 06:00 (Europe/Lisbon)`. */
export function timeWords(at: number, zone: string): string {
  const time = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone)
  return `${dayNames[time.dayOfWeek - 1]} ${time.day} ${monthNames[time.month - 1]}, ${timeOfDay(time)} (${zone})`
}

/** `06:00`, without the seconds. */
export function timeOfDay(time: Temporal.ZonedDateTime): string {
  return time.toPlainTime().toString({ smallestUnit: 'minute' })
}
