import { isMachine } from '../../../domain/approval/origin.ts'
import { isOpen, type Request } from '../../../domain/request/request.ts'
import { code, type Mrkdwn, mention, mrkdwn } from '../../../slack/text/text.ts'
import { stateWords } from '../words.ts'
import { explainAll } from './causes.ts'

const changedNothing = mrkdwn`No change made.`

/** Says it where the request is being carried out, because there *No change made* would read as a word on the account. */
const clickedInVain = mrkdwn`Your click had no effect.`

/** Explains a click that comes too late, by the current state of the request. */
export function tooLate(request: Request, clickerId: string): Mrkdwn {
  const by = request.decision?.by
  const who = by === undefined ? mrkdwn`` : by === clickerId ? mrkdwn` by you` : mrkdwn` by ${mention(by)}`
  switch (request.state) {
    case 'rejected':
      return mrkdwn`Already rejected${who}. ${changedNothing}`
    case 'withdrawn':
      if (isMachine(request.origin) && request.withdrawnBy === undefined)
        return mrkdwn`The alert that requested this has resolved. ${changedNothing}`
      return mrkdwn`${mention(request.withdrawnBy ?? request.origin.userId)} already withdrew this. ${changedNothing}`
    case 'expired':
      return mrkdwn`${request.causes.length > 0 ? `This expired. ${explainAll(undefined, request.causes).why}` : 'This expired before it was approved.'} Nothing was done.`
    case 'voided':
      return mrkdwn`Canceled: the account changed since the request. Nothing was done.`
    case 'waiting':
      return mrkdwn`This request still needs approval. ${changedNothing}`
    case 'approved':
      return mrkdwn`Already approved${who}. ${clickedInVain}`
    default:
      return isOpen(request.state)
        ? mrkdwn`Already approved${who}. Status: ${stateWords(request)}. ${clickedInVain}`
        : mrkdwn`Approved${who}, and ended since (${stateWords(request)}). ${clickedInVain}`
  }
}

/** Answers a second approval of the same person. */
export function approvedByYou(missing: number): Mrkdwn {
  return mrkdwn`You already approved this. ${moreNeeded(missing)} ${changedNothing}`
}

/** Answers an approval that counts, while more are missing. */
export function counted({ missing, needed }: { missing: number; needed: number }): Mrkdwn {
  return mrkdwn`Approved (${needed - missing} of ${needed}). ${moreNeeded(missing)}`
}

function moreNeeded(missing: number): string {
  return `${missing === 1 ? 'One' : missing} more needed.`
}

/** Says that the request is gone. `command`: the slash command, if it is known. */
export function unknownRequest(command: string): Mrkdwn {
  const where = command === '' ? mrkdwn`The audit` : mrkdwn`${code(`${command} audit`)}`
  return mrkdwn`Lockkeeper no longer has this request: it's older than 30 days, or Redis lost its data. Nothing was done. ${where} may still show it. To make the change, run the command again.`
}

export const staleCard: Mrkdwn = mrkdwn`This button isn't on the request message. Nothing was done. Use the request message.`

export const foreignButton: Mrkdwn = mrkdwn`This button was made for another request, or it was changed. Nothing was done. Use the request message.`

export const changedRecord: Mrkdwn = mrkdwn`The record of this request no longer matches what was requested. Nothing was done. The people who run Lockkeeper were notified. Run the command again.`

export const takenOver: Mrkdwn = mrkdwn`This can't be tracked again: a newer request changes the same resource. No change made.`
