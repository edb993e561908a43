import type { Description } from '../../domain/change.ts'
import type { Words } from '../../domain/finding.ts'
import type { Request } from '../../domain/request.ts'
import { code, type Mrkdwn, mention, mrkdwn } from '../../slack/text/text.ts'
import { timeTaken, tookNoTime } from './words.ts'

export interface EndView {
  request: Request
  description: Description
  /** Why the request ended, and what to do next. */
  ending: Words
  /** The sentence for a change that is done. */
  done: string
}

const stillWanted = mrkdwn`Press *Request again* on the card if it is still wanted.`

/** Says how a request ended, why, and what to do next. */
export function endSentence({ request, description, done, ending }: EndView): Mrkdwn {
  const late = request.lateAt === undefined ? '' : ', later than it should have'
  const { why, next } = ending
  switch (request.state) {
    case 'done':
      return tookNoTime(request)
        ? mrkdwn`:large_green_circle: *Done.* ${done}`
        : mrkdwn`:large_green_circle: *Done.* ${done} It took ${timeTaken(request)}${late}.`
    case 'failed':
      return mrkdwn`:red_circle: *Failed:* “${description.sentence}”. ${why} ${afterFailure(request, next)}`
    case 'not-started':
      return mrkdwn`:red_circle: *Not started:* “${description.sentence}”. ${why} ${next ?? stillWanted}`
    case 'superseded':
      return mrkdwn`:large_orange_circle: *Superseded:* “${description.sentence}”. ${why} I leave it as it is.`
    case 'voided':
      return mrkdwn`:large_orange_circle: *Nothing was done:* “${description.sentence}” was approved, but the account has changed since it was asked for. ${why} ${next ?? stillWanted}`
    case 'expired':
      if (why) return mrkdwn`:alarm_clock: *Expired:* “${description.sentence}”. ${why} Nothing was done.`
      return mrkdwn`:alarm_clock: *Expired:* nobody decided “${description.sentence}” in time, and nothing was done. ${stillWanted}`
    case 'rejected':
      return mrkdwn`:no_entry: *Rejected:* “${description.sentence}”. ${request.decision?.by ? mrkdwn`${mention(request.decision.by)} gives the reason:` : ''} ${request.decision?.reason ? code(request.decision.reason) : ''}`
    default:
      return mrkdwn`“${description.sentence}” is ${request.state}.`
  }
}

function afterFailure({ acceptedAt }: Request, next: string | undefined): string | Mrkdwn {
  if (next !== undefined) return next
  // A change that was never accepted or seen has left nothing behind on the account.
  return acceptedAt === undefined ? stillWanted : 'Look at it in the account before you ask again.'
}
