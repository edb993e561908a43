import type { Description } from '../../../domain/change/description.ts'
import type { Words } from '../../../domain/change/finding.ts'
import type { Request } from '../../../domain/request/request.ts'
import { restOf } from '../../../domain/request/request-item.ts'
import type { Phrase } from '../../../domain/text/phrase.ts'
import { capitalised } from '../../../slack/text/capitalised.ts'
import { phraseWords } from '../../../slack/text/phrase-words.ts'
import { joinMrkdwn, type Mrkdwn, mrkdwn } from '../../../slack/text/text.ts'
import { notesOnDone } from '../items/item-outcomes.ts'
import type { ItemView } from '../items/item-view.ts'
import { isOne, isPartlyDone, movedCount } from '../items/items.ts'
import { whyWords } from '../refusals/causes.ts'
import { mayHaveEndedBefore, timeTakenWords } from '../words.ts'

export interface EndView {
  request: Request
  description: Description
  /** Why the request ended, and what to do next. */
  ending: Words
  /** The sentence for a change that is done. */
  done: Phrase
  /** Each item of a change of several. */
  items: ItemView[]
  /** What the change leaves as it is although people may expect otherwise. */
  leaves?: Phrase | undefined
  /** Shows the person who acted, by name or with other words. A mention would ring their phone for what they did themselves. */
  showActor: (userId: string, words?: string) => Mrkdwn
}

const checkTheAccount = 'Check the account before you request it again.'

const stillWanted = mrkdwn`Still wanted? Press *Request again* above.`

/** Says how a request ended, why, and what to do next. A rejection's reason is shown below it. */
export function endSentence({ request, description, done, ending, items, showActor }: EndView): Mrkdwn {
  const what = mrkdwn`“${phraseWords(description.title)}”`
  const why = whyWords(ending)
  const next = ending.next === undefined ? undefined : mrkdwn`${ending.next}`
  switch (request.state) {
    case 'done':
      return doneSentence(request, done, request.items ? notesOnDone(items) : why)
    case 'failed':
      if (request.items) return isOne(items) ? failedItemSentence(what, items) : failedItemsSentence(what, items)
      return mrkdwn`:red_circle: *Failed:* ${what}. ${why} ${next ?? afterFailure(request)}`
    case 'not-started':
      return mrkdwn`:red_circle: *Not started:* ${what}. ${why} ${next ?? stillWanted}`
    case 'superseded':
      return mrkdwn`:large_orange_circle: *Superseded:* ${what}. ${why} Lockkeeper leaves it as it is.`
    case 'voided':
      return mrkdwn`:large_orange_circle: *Canceled:* ${what}. The account changed since the request. Nothing was done. ${why} ${next ?? stillWanted}`
    case 'expired':
      if (why.text !== '') return mrkdwn`:alarm_clock: *Expired:* ${what}. ${why} Nothing was done. ${next ?? stillWanted}`
      return mrkdwn`:alarm_clock: *Expired:* ${what} wasn't approved before the deadline. Nothing was done. ${stillWanted}`
    case 'rejected':
      return request.decision?.by
        ? mrkdwn`:no_entry: *Rejected* by ${showActor(request.decision.by)}: ${what}.`
        : mrkdwn`:no_entry: *Rejected:* ${what}.`
    case 'withdrawn':
      return request.withdrawnBy
        ? mrkdwn`:leftwards_arrow_with_hook: *Withdrawn* by ${showActor(request.withdrawnBy)}: ${what}. Nothing was done. ${stillWanted}`
        : mrkdwn`:leftwards_arrow_with_hook: *Withdrawn:* ${what}. Nothing was done.`
    default:
      return mrkdwn`${what} is ${request.state}.`
  }
}

function failedItemSentence(what: Mrkdwn, [item]: ItemView[]): Mrkdwn {
  const { why, next = checkTheAccount } = item?.ending ?? { why: '' }
  return joinMrkdwn(
    [mrkdwn`:red_circle: *Failed:* ${what}.`, ...(why === '' || !item ? [] : [whyWords(item.ending)]), mrkdwn`${next}`],
    ' ',
  )
}

function failedItemsSentence(what: Mrkdwn, items: ItemView[]): Mrkdwn {
  const head = isPartlyDone(items) ? mrkdwn`:large_orange_circle: *Partly done:*` : mrkdwn`:red_circle: *Failed:*`
  return joinMrkdwn(
    [mrkdwn`${head} ${what}. ${movedCount(items)}.`, notesOnDone(items)].filter(({ text }) => text !== ''),
    ' ',
  )
}

/** Says what to do next, below the reasons why items failed. */
export function adviceAfterItems(request: Request, items: ItemView[]): Mrkdwn | undefined {
  if (request.state !== 'failed' || items.length === 0) return undefined
  if (!isPartlyDone(items)) return mrkdwn`${checkTheAccount}`
  return restOf(items).length > 0
    ? mrkdwn`Above, you can press *Retry the rest*, or *Move back* to undo what was moved.`
    : mrkdwn`Above, you can press *Move back* to undo what was moved.`
}

function doneSentence(request: Request, done: Phrase, note: Mrkdwn): Mrkdwn {
  const took = timeTakenWords(request)
  const late = request.lateAt === undefined ? '' : ', longer than expected'
  const parts = [
    mrkdwn`${note.text === '' ? ':large_green_circle:' : ':warning:'} *Done.* ${phraseWords(done)}`,
    note,
    took === undefined ? mrkdwn`` : mrkdwn`${mayHaveEndedBefore(request) ? capitalised(took) : `It ${took}`}${late}.`,
  ]
  return parts.filter(({ text }) => text !== '').reduce((all, part) => mrkdwn`${all} ${part}`)
}

function afterFailure({ acceptedAt, untrackedMs }: Request): Mrkdwn {
  // A change that was never accepted or seen has left nothing behind on the account.
  return acceptedAt === undefined && untrackedMs === undefined ? stillWanted : mrkdwn`${checkTheAccount}`
}
