import { Temporal } from 'temporal-polyfill'
import { type ChangeKind, type Freeze, isIn, type Project, type Window } from './policy.ts'
import { dayNames, timeOfDay } from './times.ts'

export interface Hours {
  windows: Window[]
  freezes: Freeze[]
}

export interface Held {
  kind: ChangeKind
  project: Project
}

/** What keeps a change from starting, until a time in ms since 1970. */
export interface Hold {
  by: 'window' | 'freeze'
  name: string
  /** The `ownId` of a freeze. */
  id?: string | undefined
  until: number
  /** When a freeze began, or will. */
  from?: number
}

const furthestDays = 60

/** What keeps a change from starting at a time, in ms since 1970. Empty: nothing. */
export function holdsOf({ windows, freezes }: Hours, change: Held, at: number): Hold[] {
  return [
    ...windows.flatMap((window): Hold[] => {
      const until = opening(window, at)
      return until > at ? [{ by: 'window', name: window.name, until }] : []
    }),
    ...freezes.flatMap((freeze): Hold[] => {
      const holds = freeze.from <= at && at < freeze.to && covers(freeze, change)
      return holds ? [{ by: 'freeze', name: freeze.name, id: freeze.ownId, until: freeze.to, from: freeze.from }] : []
    }),
  ]
}

/** The first time from `at` on at which nothing holds a change, and what holds it until then, in order. Infinity: not within 60 days. */
export function earliestStart(hours: Hours, change: Held, at: number): { at: number; holds: Hold[] } {
  const holds: Hold[] = []
  let start = at
  while (start <= at + furthestDays * 86_400_000) {
    const found = holdsOf(hours, change, start)
    if (found.length === 0) return { at: start, holds }
    // The last one is named with the time at which the change may start.
    holds.push(...found.toSorted((one, other) => one.until - other.until))
    start = Math.max(...found.map(({ until }) => until))
  }
  return { at: Number.POSITIVE_INFINITY, holds }
}

/** A project that is not known may be one of those that are frozen. */
function covers({ changes, projects }: Freeze, { kind, project }: Held): boolean {
  return (changes === undefined || changes.includes(kind)) && isIn(projects, project) !== false
}

/**
 * The first time from `at` on at which a window is open, in ms since 1970; Infinity if that is not within 60 days.
 *
 * A window is open while the clock on the wall of its zone shows a time inside. So an hour that the clock skips opens nothing that day, a window whose
 * begin is skipped opens when the clock goes forward, and an hour that comes twice is open twice.
 */
function opening(window: Window, at: number): number {
  const { zone, from } = window
  const now = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone)
  if (isOpen(window, now)) return at
  for (let days = 0; days <= furthestDays; days++) {
    const date = now.toPlainDate().add({ days })
    const [begin, end] = [date.toZonedDateTime(zone), date.add({ days: 1 }).toZonedDateTime(zone)]
    const change = begin.offset === end.offset ? null : begin.getTimeZoneTransition('next')
    const opened = (['earlier', 'later'] as const).map((disambiguation) =>
      date.toPlainDateTime(from).toZonedDateTime(zone, { disambiguation }),
    )
    // A window can only open when its clock shows its begin, or changes.
    const open = [...opened, ...(change ? [change] : [])].filter((time) => time.epochMilliseconds >= at && isOpen(window, time))
    if (open.length > 0) return Math.min(...open.map((time) => time.epochMilliseconds))
  }
  return Number.POSITIVE_INFINITY
}

/** A window that ends at or before the time at which it begins ends on the next day, and belongs to the day on which it begins. */
function isOpen({ days, from, to }: Window, now: Temporal.ZonedDateTime): boolean {
  const [today, before] = [days.includes(now.dayOfWeek), days.includes(now.dayOfWeek === 1 ? 7 : now.dayOfWeek - 1)]
  const time = timeOfDay(now)
  return from < to ? today && from <= time && time < to : (today && from <= time) || (before && time < to)
}

/** Says when a window is open: `Mon, Tue, Fri 09:00–17:00 (Europe/Lisbon)`, or `daily 09:00–17:00 (UTC)`. */
export function whenOpen({ days, from, to, zone }: Window): string {
  const named = dayNames.filter((_, index) => days.includes(index + 1))
  return `${named.length === 7 ? 'daily' : named.join(', ')} ${from === to ? `24 h from ${from}` : `${from}–${to}`} (${zone})`
}
