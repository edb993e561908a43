import type { Request } from '../../domain/request/request.ts'
import { firstReminderAt } from '../store/new-requests.ts'

/** The share of the time to act after which people get each reminder: approvers of a waiting request, requesters of an approved one. */
const reminders = [
  { waiting: 'remind-half', approved: 'remind-handover-half', at: firstReminderAt },
  { waiting: 'remind-last', approved: 'remind-handover-last', at: 0.9 },
] as const

type Reminder = (typeof reminders)[number]['waiting' | 'approved']

/**
 * Returns the reminder that is due for a request that waits for people, the number of reminders whose time has passed, and when the next one
 * is due, in ms since 1970. If several are due because no worker was running, only the last one is returned.
 */
export function remindersOf(request: Request, now: number): { due: Reminder | undefined; passed: number; nextAt: number } {
  const isApproved = request.state === 'approved'
  // The approval gives the requester of a secret the whole time again.
  const from = isApproved ? request.expiresAt - request.ttlMs : request.createdAt
  const times = reminders.map(({ at, ...name }) => ({ name: isApproved ? name.approved : name.waiting, at: from + request.ttlMs * at }))
  const passed = times.filter(({ at }) => now >= at).length
  const due = passed > request.reminded ? times[passed - 1]?.name : undefined
  return { due, passed, nextAt: times[passed]?.at ?? request.expiresAt }
}
