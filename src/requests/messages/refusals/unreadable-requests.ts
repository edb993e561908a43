import { type Mrkdwn, mrkdwn } from '../../../slack/text/text.ts'

/** Counts the requests that are not listed because this version cannot read their records. Empty if there are none. */
export function unreadableRequests(count: number): Mrkdwn[] {
  if (count <= 0) return []
  const requests = count === 1 ? "1 request isn't" : `${count} requests aren't`
  return [mrkdwn`:warning: ${requests} listed: written by another version of Lockkeeper.`]
}
