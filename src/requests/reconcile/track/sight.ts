import { isOpen, type Request } from '../../../domain/request/request.ts'
import { unansweredSince } from '../../../domain/request/unanswered.ts'
import type { CheckRecord } from '../../access/check-record.ts'
import type { Store } from '../../store/store.ts'
import type { Observed } from './observe.ts'
import type { Tracked } from './observe-each.ts'

/** How long the account API may leave every read unanswered before request messages say so. */
export const lostAfterMs = 30_000

/** While more requests than this are under way, their messages stay as they are: so many updates would delay the reports of their ends. */
const mostShown = 100

interface SightParts {
  store: Pick<Store, 'findMany' | 'take'>
  checkRecord: CheckRecord
}

/**
 * Creates the steps that note on requests under way since when the account API has not answered, and when it answers again. Otherwise their
 * messages would say that a change is still under way though nobody can see it.
 */
export function createSight({ store, checkRecord }: SightParts) {
  let since: number | undefined

  /** Receives the results of one tick in the order of its requests. `now`: when the tick began, in ms since 1970. */
  return async function noteSight(requests: Tracked[], results: Observed[], now: number): Promise<void> {
    if (results.includes('read')) since = undefined
    else if (results.includes('unread')) since ??= now
    await regain(
      requests.filter(({ isUnanswered }, index) => isUnanswered && results[index] === 'read'),
      now,
    )
    if (since !== undefined && now - since >= lostAfterMs) await lose(requests, since)
  }

  async function lose(requests: Tracked[], since: number): Promise<void> {
    const ids = idsOf(requests.filter(({ isUnanswered }) => !isUnanswered))
    if (ids.length > mostShown) return
    for (const request of await underway(ids)) if (unansweredSince(request) === undefined) await note(request, 'lose-sight', { since })
  }

  async function regain(requests: Tracked[], until: number): Promise<void> {
    for (const request of await underway(idsOf(requests))) {
      const lostAt = unansweredSince(request)
      if (lostAt !== undefined) await note(request, 'regain-sight', { since: lostAt, until })
    }
  }

  async function underway(ids: string[]): Promise<Request[]> {
    const found = ids.length === 0 ? [] : await store.findMany(ids)
    return found.filter((request) => request.sentAt !== undefined && isOpen(request.state) && !checkRecord(request))
  }

  // A step that is lost to another one is taken at a later tick. The outbox updates the message.
  async function note(
    request: Request,
    name: 'lose-sight' | 'regain-sight',
    unanswered: NonNullable<Request['unanswered']>,
  ): Promise<void> {
    await store.take(request, name, { set: { unanswered } })
  }
}

function idsOf(requests: Tracked[]): string[] {
  return [...new Set(requests.map(({ id }) => id))]
}
