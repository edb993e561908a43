import { possibleDuplicate } from '../../requests/messages/reports/resent.ts'
import { notice } from '../../slack/blocks/notice.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { Messenger, Where } from '../../slack/web-api/messenger.ts'
import { TryLater } from '../outcome.ts'

/** How far back to search for a message that an earlier attempt may have posted. */
const searchMs = 24 * 3_600_000

export type PostedOnce = { is: 'sent'; ts: string } | { is: 'refused'; error: string }

/**
 * Creates the function that posts a message about alerts once. `again`: an earlier attempt may have posted it, so search first. Throws
 * TryLater if Slack gives no answer.
 */
export function createPostOnce({ messenger, now = Date.now }: { messenger: Pick<Messenger, 'post' | 'find'>; now?: () => number }) {
  return async function postOnce(
    where: Where & { key: string },
    words: Mrkdwn,
    { again, sinceMs = searchMs }: { again: boolean; sinceMs?: number },
  ): Promise<PostedOnce> {
    const found = again ? await messenger.find({ ...where, oldestMs: now() - sinceMs }) : { is: 'absent' as const }
    if (found.is === 'found') return { is: 'sent', ts: found.ts }
    if (found.is === 'unknown' || found.is === 'rate-limited') throw new TryLater('Slack did not answer')
    const posted = await messenger.post(where, notice(found.is === 'cannot-search' ? mrkdwn`${words}\n${possibleDuplicate}` : words))
    if (posted.is === 'sent' || posted.is === 'refused') return posted
    throw new TryLater('Slack did not answer')
  }
}
export type PostOnce = ReturnType<typeof createPostOnce>
