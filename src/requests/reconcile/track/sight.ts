import { isOpen, type Request } from '../../../domain/request/request.ts'
import { unansweredSince } from '../../../domain/request/unanswered.ts'
import type { CheckRecord } from '../../access/check-record.ts'
import type { Store } from '../../store/store.ts'
import type { Observed, Tracked } from './observe.ts'

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

  /** Receives the results of one tick in the order of what it observed. `now`: when the tick began, in ms since 1970. */
  return async function noteSight(observed: Tracked[], results: Observed[], now: number): Promise<void> {
    if (results.includes('read')) since = undefined
    else if (results.includes('unread')) since ??= now
    const isAnswered = observed.filter(({ request }, index) => unansweredSince(request) !== undefined && results[index] === 'read')
    await regain(isAnswered, now)
    if (since !== undefined && now - since >= lostAfterMs) await lose(observed, since)
  }

  async function lose(observed: Tracked[], since: number): Promise<void> {
    const ids = idsOf(observed.filter(({ request }) => unansweredSince(request) === undefined))
    if (ids.length > mostShown) return
    for (const request of await underway(ids)) if (unansweredSince(request) === undefined) await note(request, 'lose-sight', { since })
  }

  async function regain(observed: Tracked[], until: number): Promise<void> {
    for (const request of await underway(idsOf(observed))) {
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

function idsOf(observed: Tracked[]): string[] {
  return [...new Set(observed.map(({ request }) => request.id))]
}
