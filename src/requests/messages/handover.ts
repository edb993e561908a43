import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'

/** Answers a requester who was shown the secret too late to record it. */
export const tookTooLong = mrkdwn`It took too long until you were shown this, so I make it worthless: do not use it. The thread tells when that is done, and what to do next.`

/** Answers a requester who was shown the secret while Redis was away. */
export const notRecorded = mrkdwn`I cannot reach my memory (Redis), and do not know whether I noted that you were shown this. If I did not, it is made worthless: do not use it unless the thread says that it is done.`

/** Answers a requester whose write got no answer. */
export const notConfirmed = mrkdwn`The account API did not confirm it, so I do not know whether it took effect. I look for it, make worthless what nobody has seen, and tell you in the thread.`

/** Answers a requester whose write was refused. `why`: the reason. */
export function nothingMade(why: Mrkdwn): Mrkdwn {
  return mrkdwn`${why} Nothing was made.`
}
