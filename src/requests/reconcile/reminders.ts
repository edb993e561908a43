import type { Request } from '../../domain/request.ts'
import { firstReminderAt } from '../store/new-requests.ts'

/** The share of the time to decide after which approvers get each reminder. */
const reminders = [
  { name: 'remind-half', at: firstReminderAt },
  { name: 'remind-last', at: 0.9 },
] as const

/**
 * Returns the reminder that is due for a waiting request, the number of reminders whose time has passed, and when the next one is due, in ms
 * since 1970. If several are due because no worker was running, only the last one is returned.
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
