import type { KnownBlock } from '@slack/web-api'
import type { Fact } from '../../../domain/change.ts'
import { actions, context, fields, header, plainSection, wholeSection } from '../../../slack/blocks/blocks.ts'
import { message } from '../../../slack/blocks/message.ts'
import { charactersIn, mostCharacters } from '../../../slack/text/characters.ts'
import { code, joinMrkdwn, link, type Mrkdwn, mrkdwn } from '../../../slack/text/text.ts'
import type { Message } from '../../../slack/web-api/messenger.ts'
import { approvalLines, approvalsInWords, history } from './approvals.ts'
import { cardActions } from './card-actions.ts'
import type { CardView } from './card-view.ts'
import { statusLine } from './status-line.ts'

/**
 * Renders the card of a request from its record, anew for every change. The card shows the whole request in every state, because approvers
 * approve what they see.
 */
export function approvalCard(view: CardView): Message {
  return message({ text: fallbackText(view), blocks: cardBlocks(view) })
}

function cardBlocks(view: CardView): KnownBlock[] {
  const { request, description, environment } = view
  const title = header(`${environment ? `[${environment}] ` : ''}${description.title}`)
  // Slack keeps what was entered in a block whose id stays, so each revision has another id.
  const buttons = actions(cardActions(view), `card-${request.id}-${request.revision}`)
  return [title, ...cardBody(view), ...sourceBlocks(view), ...buttons]
}

/** Links the message that it was requested from. Only the request message does: the Home tab is outside of the channel. */
function sourceBlocks({ fromMessage }: CardView): KnownBlock[] {
  return fromMessage ? context([mrkdwn`Requested from ${link(fromMessage, 'a message')}`]) : []
}

/** Renders a card without its title and its buttons. */
export function cardBody(view: CardView): KnownBlock[] {
  const { request, description, unchecked, warnings } = view
  return [
    ...wholeSection(statusLine(view)),
    ...approvalLines(view),
    ...fields(description.facts.map(factField)),
    ...(request.reason ? plainSection(`Reason: “${request.reason}”`) : []),
    ...(warnings.length > 0 ? wholeSection(mrkdwn`:warning: *Warning:* ${warnings.join(' ')}`) : []),
    ...(unchecked.length > 0 ? wholeSection(mrkdwn`:warning: *Not checked:* ${unchecked.join('; ')}.`) : []),
    ...context([history(view)]),
  ]
}

function factField({ label, value, detail }: Fact): Mrkdwn {
  return detail ? mrkdwn`*${label}*\n${code(value)}\n${detail}` : mrkdwn`*${label}*\n${code(value)}`
}

/** Returns whether one message can show the whole request, now and in every later state. A request that does not fit is refused. */
export function fitsOnCard(view: CardView): boolean {
  const blocks = cardBlocks(view)
  return blocks.length <= mostBlocks && charactersIn(blocks) <= mostCharacters - laterCharacters
}

const mostBlocks = 50

/** Characters that later states add: approvals, the outcome, and a reason of 500 characters, each up to five once escaped. */
const laterCharacters = 5_000

/** Says everything on the card without blocks. Notifications and screen readers use it. */
function fallbackText(view: CardView): Mrkdwn {
  const { request, description, unchecked, warnings } = view
  const facts = description.facts.map((fact) => mrkdwn`${fact.label}: ${fact.value}${fact.detail ? ` (${fact.detail})` : ''}`)
  const lines = [
    mrkdwn`${view.environment ? `[${view.environment}] ` : ''}${description.sentence}`,
    statusLine(view),
    ...approvalsInWords(view),
    ...facts,
    ...(request.reason ? [mrkdwn`Reason: ${code(request.reason)}`] : []),
    ...(warnings.length > 0 ? [mrkdwn`Warning: ${warnings.join(' ')}`] : []),
    ...(unchecked.length > 0 ? [mrkdwn`Not checked: ${unchecked.join('; ')}.`] : []),
    history(view),
    ...(view.fromMessage ? [mrkdwn`Requested from ${link(view.fromMessage, 'a message')}`] : []),
  ]
  return joinMrkdwn(lines, '\n')
}
