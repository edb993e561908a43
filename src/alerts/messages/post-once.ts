import { possibleDuplicate } from '../../requests/messages/reports/resent.ts'
import { notice } from '../../slack/blocks/notice.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { Messenger, Where } from '../../slack/web-api/messenger.ts'
import type { NoticePlace } from '../notice-place.ts'
import { TryLater } from '../outcome.ts'
import type { Alert } from '../payload/payload.ts'

/** The key of the notice about an alert, by which it is found again. */
export function noticeKey({ key }: Pick<Alert, 'key'>): string {
  return `alert/${key}`
}

/** How far back to search for a message that an earlier attempt may have posted. */
const searchMs = 24 * 3_600_000

/** How much the clocks of Slack and of the alert's sender may differ. */
const clocksDifferMs = 5 * 60_000

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

/**
 * Creates the search for the notice about an alert whose process died before it recorded where the notice is. Undefined if there is none, or if Slack allows
 * no search. Throws TryLater if Slack gives no answer.
 */
export function createFindNotice({ messenger, now = Date.now }: { messenger: Pick<Messenger, 'find'>; now?: () => number }) {
  return async function findNotice(channelId: string, alert: Alert): Promise<NoticePlace | undefined> {
    const startedAt = Date.parse(alert.startsAt ?? '') || 0
    // An older notice is about an earlier time when the alert fired.
    const oldestMs = Math.max(now() - searchMs, startedAt - clocksDifferMs)
    const found = await messenger.find({ channelId, key: noticeKey(alert), oldestMs })
    if (found.is === 'unknown' || found.is === 'rate-limited') throw new TryLater('Slack did not answer')
    return found.is === 'found' ? { channelId, ts: found.ts } : undefined
  }
}
export type FindNotice = ReturnType<typeof createFindNotice>
