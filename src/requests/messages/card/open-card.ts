import type { KnownBlock } from '@slack/web-api'
import type { Fact } from '../../../domain/change/description.ts'
import type { Request } from '../../../domain/request/request.ts'
import { phraseText } from '../../../domain/text/phrase.ts'
import { context, fields, header, headerFits, wholeSection } from '../../../slack/blocks/blocks.ts'
import { reasonBlocks } from '../../../slack/blocks/reason.ts'
import { boldPhrase, phraseWords, plainPhrase } from '../../../slack/text/phrase-words.ts'
import { code, joinMrkdwn, link, type Mrkdwn, mention, mrkdwn } from '../../../slack/text/text.ts'
import { alertWords } from '../alert-words.ts'
import { approversNotListed } from '../approvers.ts'
import { doubtOf, itemBlocks, itemLines } from '../items/items.ts'
import { relatedSentences } from '../related.ts'
import { shortId } from '../words.ts'
import { approvalLines, approvalsInWords, history } from './approvals.ts'
import type { CardView } from './card-view.ts'
import { checkBlocks, checksInWords } from './check-first.ts'
import { statusLine } from './status-line.ts'

/**
 * Renders a request that is not finished, without its buttons: the change first, then who needs approval from whom, then the facts for
 * approvers.
 */
export function openBlocks(view: CardView): KnownBlock[] {
  return [...titleBlocks(view), ...cardBody(view), ...sourceBlocks(view)]
}

/**
 * Links the message or the alert that it was requested from. Only the request message has this link, because the Home tab is outside of the
 * channel.
 */
export function sourceBlocks(view: CardView): KnownBlock[] {
  const words = sourceWords(view)
  return words.length > 0 ? context(words) : []
}

function sourceWords({ fromMessage, subject, request: { alert, state, origin } }: CardView): Mrkdwn[] {
  return [
    ...(fromMessage ? [mrkdwn`Requested from ${link(fromMessage, 'a message')}`] : []),
    ...(alert ? [alertWords(alert)] : []),
    ...(alert && state === 'waiting' ? [otherTargetWords(origin.command, subject)] : []),
  ]
}

/** Says where the target of an alert's request comes from, and how to choose another one. `server`: the name of the server to evacuate. */
function otherTargetWords(command: string, server = ''): Mrkdwn {
  return mrkdwn`The policy chose the target. For another one, reject this and run ${code(`${command} evacuate ${server}`.trim())}.`
}

/** Shows the change as a heading. One that is too long for a heading is shown whole below it. */
export function titleBlocks({ description, environment }: CardView): KnownBlock[] {
  const title = `${prefixOf(environment)}${phraseText(description.title)}`
  return [header(title), ...(headerFits(title) ? [] : wholeSection(boldPhrase(description.title)))]
}

/** Renders a request without its title and its buttons. */
export function cardBody(view: CardView, status: Mrkdwn = statusLine(view)): KnownBlock[] {
  return [...wholeSection(status), ...approvalLines(view), ...contentBlocks(view), ...context([smallPrint(view)]), ...checkBlocks(view)]
}

/** Shows the facts of the request that are not in the title, and the reason. */
export function contentBlocks(view: CardView): KnownBlock[] {
  const { request, description } = view
  return [
    ...relatedSentences(view).flatMap((words) => wholeSection(words)),
    ...reasonBlocks('Reason', request.reason),
    ...reasonBlocks(emergencyLabel, emergencyReason(request)),
    ...fields(description.facts.map(factField)),
    ...itemBlocks(view.items, shownItems(request)),
    ...(view.leaves ? wholeSection(phraseWords(view.leaves)) : []),
  ]
}

/** Says the same without blocks. */
export function contentInWords(view: CardView): Mrkdwn[] {
  const { request, description } = view
  const emergency = emergencyReason(request)
  return [
    ...relatedSentences(view),
    ...(request.reason ? [mrkdwn`Reason: ${code(request.reason)}`] : []),
    ...(emergency ? [mrkdwn`${emergencyLabel}: ${code(emergency)}`] : []),
    ...description.facts.map(
      ({ label, value, detail, isPerson }) => mrkdwn`${label}: ${isPerson ? mention(value) : value}${detail ? ` (${detail})` : ''}`,
    ),
    ...(view.items.length > 0 ? [itemLines(view.items, shownItems(request))] : []),
    ...(view.leaves ? [phraseWords(view.leaves)] : []),
  ]
}

function shownItems(request: Request) {
  return { hasBegun: request.items !== undefined, doubt: doubtOf(request) }
}

export const emergencyLabel = 'Reason for the emergency approval'

export function emergencyReason({ decision }: Pick<Request, 'decision'>): string | undefined {
  return decision?.breakGlass ? decision.reason : undefined
}

/** Says everything on the card without blocks. Notifications and screen readers use it. */
export function openText(view: CardView): Mrkdwn[] {
  const { description, environment } = view
  return [
    mrkdwn`${prefixOf(environment)}${plainPhrase(description.title)}`,
    // A notification on a phone shows the beginning only.
    ...checksInWords(view),
    statusLine(view),
    ...approvalsInWords(view),
    ...contentInWords(view),
    smallPrint(view),
    ...sourceWords(view),
  ]
}

/** Returns the mark of the environment before a title: `[production] `. */
export function prefixOf(environment: string | undefined): string {
  return environment ? `[${environment}] ` : ''
}

/** Shows the ids, what else approvers may want to know, who requested and approved it so far, and the short id of the request. */
function smallPrint(view: CardView): Mrkdwn {
  const { request, description, notes, rule } = view
  const people = request.state === 'waiting' ? approversNotListed(request, rule) : history(view)
  const parts = [...description.ids.map(idWords), ...notes, ...people, mrkdwn`Request ${code(shortId(request))}`]
  return joinMrkdwn(parts, '  ·  ')
}

export function idWords({ label, value, detail }: Fact): Mrkdwn {
  return detail ? mrkdwn`${label} ${code(value)} (its own address ${code(detail)})` : mrkdwn`${label} ${code(value)}`
}

function factField({ label, value, detail, isPerson }: Fact): Mrkdwn {
  const shown = isPerson ? mention(value) : code(value)
  return detail ? mrkdwn`*${label}*\n${shown}\n${detail}` : mrkdwn`*${label}*\n${shown}`
}
