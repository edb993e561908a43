import type { KnownBlock } from '@slack/web-api'
import { isOpen } from '../../../domain/request/request.ts'
import { wholeSection } from '../../../slack/blocks/blocks.ts'
import { phraseWords } from '../../../slack/text/phrase-words.ts'
import { firstSentence, joinMrkdwn, type Mrkdwn, mrkdwn, unlinked } from '../../../slack/text/text.ts'
import type { CardView } from './card-view.ts'

type Checked = Pick<CardView, 'request' | 'checks' | 'unchecked'>

/** Shows what approvers should check before they approve. After the approval, the heading is *Warnings*. */
export function checkBlocks(view: Checked): KnownBlock[] {
  const lines = checkLines(view)
  return lines.length === 0 ? [] : wholeSection(joinMrkdwn([mrkdwn`:warning: *${headingOf(view)}*`, ...lines.map(bulleted)], '\n'))
}

/** Says the same without blocks. */
export function checksInWords(view: Checked): Mrkdwn[] {
  const lines = checkLines(view)
  return lines.length === 0 ? [] : [mrkdwn`${headingOf(view)}: ${joinMrkdwn(lines, ' ')}`]
}

/**
 * The dialog that Slack shows after a press on *Approve*: the change first, because it hides the message. Undefined if there is nothing to confirm,
 * unless it is shown `always`.
 */
export function approveConfirmation(view: Checked & Pick<CardView, 'rule' | 'description'>, always = false) {
  const lines = checkLines(view)
  if (lines.length === 0 && !view.rule?.confirm && !always) return undefined
  const text = withinDialog([phraseWords(view.description.title), ...lines.map(unlinked)])
  return { title: 'Approve this change?', text, confirm: 'Approve', deny: 'Cancel' }
}

function checkLines({ checks, unchecked }: Checked): Mrkdwn[] {
  return [...checks, ...(unchecked.length > 0 ? [mrkdwn`Not checked: ${joinMrkdwn(unchecked, '; ')}.`] : [])]
}

function headingOf({ request: { state } }: Checked): string {
  if (state === 'waiting') return 'Check first'
  // They say what the account showed then, in the present tense.
  return isOpen(state) ? 'Warnings' : 'Warnings at the time of the request'
}

function bulleted(line: Mrkdwn): Mrkdwn {
  return mrkdwn`•  ${line}`
}

/** Slack's limit for the text of a confirmation dialog. */
const mostInDialog = 300

/** Room for the note on lines that are left out. */
const noteLength = 60

/**
 * Keeps all lines, or the first sentence of each, or the change and as many others as fit, with the number of those that are left out. The dialog
 * hides the message, which has them all.
 */
function withinDialog([change, ...checks]: [Mrkdwn, ...Mrkdwn[]]): Mrkdwn {
  const fits = (some: Mrkdwn[], most: number) => joinMrkdwn(some, '\n').text.length <= most
  const whole = [change, ...checks]
  if (fits(whole, mostInDialog)) return joinMrkdwn(whole, '\n')
  const short = [change, ...checks.map(firstSentence)]
  if (fits(short, mostInDialog - noteLength)) return joinMrkdwn([...short, mrkdwn`The message says more about these.`], '\n')
  const kept = short.filter((_, index) => index === 0 || fits(short.slice(0, index + 1), mostInDialog - noteLength))
  const left = short.length - kept.length
  return joinMrkdwn([...kept, mrkdwn`${left} more to check: press Cancel and read the message.`], '\n')
}
