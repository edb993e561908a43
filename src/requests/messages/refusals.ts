import type { Request } from '../../domain/request.ts'
import { code, joinMrkdwn, type Mrkdwn, mention, mrkdwn } from '../../slack/text/text.ts'
import { explainAll } from './causes.ts'
import { stateWords } from './words.ts'

const changedNothing = mrkdwn`Your click changed nothing.`

/** Explains a click that comes too late, by the current state of the request. */
export function tooLate(request: Request, clickerId: string): Mrkdwn {
  const by = request.decision?.by
  const who = by === undefined ? mrkdwn`` : by === clickerId ? mrkdwn` by you` : mrkdwn` by ${mention(by)}`
  switch (request.state) {
    case 'rejected':
      return mrkdwn`This was rejected${who} already. ${changedNothing}`
    case 'withdrawn':
      return mrkdwn`${mention(request.origin.userId)} has withdrawn this. ${changedNothing}`
    case 'expired':
      return mrkdwn`${request.causes.length > 0 ? `This has expired. ${explainAll(undefined, request.causes).why}` : 'This expired before it was decided.'} Nothing was done.`
    case 'voided':
      return mrkdwn`This was canceled, because the account changed since the request. Nothing was done.`
    case 'waiting':
      return mrkdwn`This still waits for a decision, so this button does nothing yet. ${changedNothing}`
    default:
      return joinMrkdwn([mrkdwn`This was approved${who} already and is ${stateWords(request)} now.`, changedNothing], ' ')
  }
}

/** Answers a second approval of the same person. */
export function approvedByYou(missing: number): Mrkdwn {
  return mrkdwn`You have approved this already. It waits for ${othersMissing(missing)}. ${changedNothing}`
}

/** Answers an approval that counts, while more are missing. */
export function counted({ missing, needed }: { missing: number; needed: number }): Mrkdwn {
  return mrkdwn`Your approval counts: ${needed - missing} of ${needed}. It now waits for ${othersMissing(missing)}.`
}

function othersMissing(missing: number): string {
  return missing === 1 ? 'one more person' : `${missing} more people`
}

export const unknownRequest: Mrkdwn = mrkdwn`Lockkeeper no longer has this request: it is older than 30 days, or Redis lost its data. Nothing was done. ${code('/infra audit')} may still show it. To make the change, run the command again.`

export const staleCard: Mrkdwn = mrkdwn`This button is not on the card of this request, so I do not act on it. Use the card itself.`

export const foreignButton: Mrkdwn = mrkdwn`This button does not belong to the request that it names: it was made for something else, or changed. I do not act on it. Use the request's own card.`

export const changedRecord: Mrkdwn = mrkdwn`What I keep of this request is no longer what was asked for, so I do not act on it, and have told the people who run me. Ask again with the command.`

export const takenOver: Mrkdwn = mrkdwn`Something else has been asked for with the same thing since, so I do not follow this any more. Your click changed nothing.`
