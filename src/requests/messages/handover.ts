import { formatDuration } from '../../domain/text/duration.ts'
import { type AccountLimit, limitWords } from '../../slack/errors.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'

/** Answers a requester who was shown the secret too late to record it. */
export const tookTooLong = mrkdwn`This took too long, so I'm deleting the key. Don't use it. The thread will say when it's deleted and what to do next.`

/** Answers a requester who was shown the secret while Redis was away. */
export const notRecorded = mrkdwn`Lockkeeper's database (Redis) isn't responding, so it may not be recorded that you saw this key. If it isn't, the key will be deleted. Don't use it unless the thread says *Done*.`

/** Answers a requester whose write got no answer. */
export const notConfirmed = mrkdwn`The account API hasn't confirmed this. If the key was created or rotated, I'll delete it and post in the thread.`

/** What a refused write means, for the requester. */
export const nothingMade = 'Nothing was created.'

/** Says to the requester that the account allows no more calls this minute. The button stays. */
export function pressAgain(limit: AccountLimit): Mrkdwn {
  return mrkdwn`${limitWords(limit).why} Press again in ${formatDuration(Math.max(1_000, limit.waitMs))}.`
}
