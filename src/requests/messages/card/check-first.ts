import type { KnownBlock } from '@slack/web-api'
import { wholeSection } from '../../../slack/blocks/blocks.ts'
import { phraseWords } from '../../../slack/text/phrase-words.ts'
import { joinMrkdwn, type Mrkdwn, mrkdwn, unlinked } from '../../../slack/text/text.ts'
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

/** The dialog that Slack shows after a press on *Approve*: the change first, because it hides the message. Undefined if there is nothing to confirm. */
export function approveConfirmation(view: Checked & Pick<CardView, 'rule' | 'description'>) {
  const lines = checkLines(view)
  if (lines.length === 0 && !view.rule?.confirm) return undefined
  const text = withinDialog([phraseWords(view.description.title), ...lines].map(unlinked))
  return { title: 'Approve this change?', text, confirm: lines.length > 0 ? 'Approve anyway' : 'Approve', deny: 'Cancel' }
}

function checkLines({ checks, unchecked }: Checked): Mrkdwn[] {
  return [...checks, ...(unchecked.length > 0 ? [mrkdwn`Not checked: ${joinMrkdwn(unchecked, '; ')}.`] : [])]
}

function headingOf({ request }: Checked): string {
  return request.state === 'waiting' ? 'Check first' : 'Warnings'
}

function bulleted(line: Mrkdwn): Mrkdwn {
  return mrkdwn`•  ${line}`
}

/** Slack's limit for the text of a confirmation dialog. */
const mostInDialog = 300

/** Room for the note on lines that are left out. */
const noteLength = 60

/** Keeps the first line and as many others as fit whole, and counts those that are left out. The dialog hides the message, which has them all. */
function withinDialog(lines: Mrkdwn[]): Mrkdwn {
  const fits = (some: Mrkdwn[], most: number) => joinMrkdwn(some, '\n').text.length <= most
  if (fits(lines, mostInDialog)) return joinMrkdwn(lines, '\n')
  const kept = lines.filter((_, index) => index === 0 || fits(lines.slice(0, index + 1), mostInDialog - noteLength))
  const left = lines.length - kept.length
  return joinMrkdwn([...kept, mrkdwn`${left} more to check: press Cancel and read the message.`], '\n')
}
