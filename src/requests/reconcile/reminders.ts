import type { Request } from '../../domain/request.ts'
import { firstReminderAt } from '../store/new-requests.ts'

/** After which share of the time to decide approvers are reminded, each once. */
const reminders = [
  { name: 'remind-half', at: firstReminderAt },
  { name: 'remind-last', at: 0.9 },
] as const

/**
 * Which reminder a waiting request owes, how many are then behind it, and when to look again. One that was missed while nothing ran
 * is left out where the next is due as well. Pure.
 */
export function remindersOf(
  request: Request,
  now: number,
): { due: 'remind-half' | 'remind-last' | undefined; passed: number; nextAt: number } {
  const times = reminders.map(({ name, at }) => ({ name, at: request.createdAt + request.ttlMs * at }))
  const passed = times.filter(({ at }) => now >= at).length
  const due = passed > request.reminded ? times[passed - 1]?.name : undefined
  return { due, passed, nextAt: times[passed]?.at ?? request.expiresAt }
}
