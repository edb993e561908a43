import type { Request } from '../domain/request.ts'
import { joinMrkdwn, type Mrkdwn, mention, mrkdwn } from '../slack/text.ts'
import { stateWords } from './words.ts'

/** A click that does not change anything any more: what the request's present state means for who clicked. Pure. */
export function tooLate(request: Request, clickerId: string): Mrkdwn {
  const by = request.decision?.by
  const who = by === undefined ? mrkdwn`` : by === clickerId ? mrkdwn` by you` : mrkdwn` by ${mention(by)}`
  switch (request.state) {
    case 'rejected':
      return mrkdwn`This was rejected${who} already. Your click changed nothing.`
    case 'withdrawn':
      return mrkdwn`${mention(request.origin.userId)} has withdrawn this. Your click changed nothing.`
    case 'expired':
      return mrkdwn`This expired before it was decided. Nothing was done; it can be asked for again with *Request again*.`
    case 'void':
      return mrkdwn`This is void, because the account changed after it was asked for. Nothing was done; it can be asked for again with *Request again*.`
    case 'waiting':
      return mrkdwn`This still waits for a decision. Your click changed nothing: press the button again.`
    default:
      return joinMrkdwn(
        [mrkdwn`This was approved${who} already and is ${stateWords(request)} now.`, mrkdwn`Your click changed nothing.`],
        ' ',
      )
  }
}

export const unknownRequest: Mrkdwn = mrkdwn`I no longer know this request: it is older than 30 days, or my memory was lost. Nothing was done. Ask again with the command.`

export const staleCard: Mrkdwn = mrkdwn`This button is not on the card of this request, so I do not act on it. Use the card itself.`

export const notYoursToTake = (request: Request): Mrkdwn =>
  mrkdwn`Only ${mention(request.origin.userId)}, who asked for this, can take it: its secret is for their eyes alone.`

export const notYoursToWithdraw = (request: Request): Mrkdwn =>
  mrkdwn`Only ${mention(request.origin.userId)}, who asked for this, can withdraw it. An approver can reject it.`
