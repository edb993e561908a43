import type { KnownBlock } from '@slack/web-api'
import { type Group, whoApproves } from '../domain/approval.ts'
import type { Description, Fact } from '../domain/change.ts'
import type { Request } from '../domain/request.ts'
import { actions, button, context, fields, header, message, wholeSection } from '../slack/blocks.ts'
import type { Message } from '../slack/messenger.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn, ownWords, quote } from '../slack/text.ts'
import { type CardButton, cardButtons } from './buttons.ts'
import { shortId, stateWords, timeTaken, tookNoTime } from './words.ts'

export interface CardView {
  request: Request
  description: Description
  /** What the button for the requester says, where the result is for them alone. */
  handoverLabel: string | undefined
  /** What the button for undoing it says, where it can be undone. */
  reverseLabel: string | undefined
  approvers: Group
  environment: string | undefined
}

/**
 * The card of a request, made anew from the record at every change. It shows what was asked for whole, in every state, because
 * what is approved is what is shown. Pure.
 */
export function approvalCard(view: CardView): Message {
  const { request, description, environment } = view
  const blocks: KnownBlock[] = [
    header(`${environment ? `[${environment}] ` : ''}${description.title}`),
    ...wholeSection(statusLine(view)),
    ...fields(description.facts.map(factField)),
    ...(request.reason ? wholeSection(mrkdwn`*Reason*\n${quote(request.reason)}`) : []),
    ...(request.unchecked.length > 0 ? wholeSection(mrkdwn`:warning: *Not checked:* ${request.unchecked.join('; ')}.`) : []),
    ...context([history(view)]),
    ...buttons(view),
  ]
  return message({ text: fallbackText(view), blocks })
}

/** One line: how it stands, and what happens next. */
function statusLine({ request, description, approvers, handoverLabel }: CardView): Mrkdwn {
  const why = request.why ? mrkdwn` ${request.why}` : mrkdwn``
  switch (request.state) {
    case 'waiting':
      return request.needsApproval
        ? mrkdwn`:hourglass_flowing_sand: *Waiting for approval* by ${ownWords(whoApproves(approvers))}, until ${dateTime(request.expiresAt)}.`
        : mrkdwn`:hourglass_flowing_sand: *About to start.* No approval is needed for this here.`
    case 'approved':
      return handoverLabel
        ? mrkdwn`:white_check_mark: *Approved.* ${mention(request.origin.userId)}, press *${handoverLabel}* until ${dateTime(request.expiresAt)}: the token is shown to you alone, and once.`
        : mrkdwn`:white_check_mark: *Approved*, about to start.`
    case 'starting':
      return mrkdwn`:arrow_forward: *Starting*: sent to the account API, which has not confirmed it yet.`
    case 'following': {
      const late = request.lateAt === undefined ? mrkdwn`` : mrkdwn` This takes longer than it should; I keep following it.`
      return mrkdwn`:arrows_counterclockwise: *${capitalised(stateWords(request, description.underway))}* since ${dateTime(request.sentAt ?? request.createdAt)}.${late}`
    }
    case 'done':
      return tookNoTime(request) ? mrkdwn`:large_green_circle: *Done.*` : mrkdwn`:large_green_circle: *Done*, in ${timeTaken(request)}.`
    case 'failed':
      return mrkdwn`:red_circle: *Failed.*${why}`
    case 'not-started':
      return mrkdwn`:red_circle: *Not started.*${why}`
    case 'superseded':
      return mrkdwn`:large_orange_circle: *Superseded.*${why}`
    case 'void':
      return mrkdwn`:large_orange_circle: *Void: nothing was done.*${why}`
    case 'rejected':
      return mrkdwn`:no_entry: *Rejected* by ${decider(request)}.${request.decision?.reason ? mrkdwn` Reason: ${quote(request.decision.reason)}` : mrkdwn``}`
    case 'withdrawn':
      return mrkdwn`:leftwards_arrow_with_hook: *Withdrawn* by ${mention(request.origin.userId)}.`
    case 'expired':
      return request.why
        ? mrkdwn`:alarm_clock: *Expired.*${why} Nothing was done.`
        : mrkdwn`:alarm_clock: *Expired*: nobody decided in time, and nothing was done.`
  }
}

function factField({ label, value, detail }: Fact): Mrkdwn {
  return detail ? mrkdwn`*${label}*\n${code(value)}\n${detail}` : mrkdwn`*${label}*\n${code(value)}`
}

/** Who asked and who decided, when, and by what name this request goes. */
function history({ request }: CardView): Mrkdwn {
  const parts = [mrkdwn`Asked for by ${mention(request.origin.userId)}, ${dateTime(request.createdAt)}`]
  const decided = request.decidedAt === undefined ? undefined : dateTime(request.decidedAt)
  if (decided && request.state !== 'rejected') {
    parts.push(request.decision?.by ? mrkdwn`Approved by ${mention(request.decision.by)}, ${decided}` : mrkdwn`Needed no approval`)
  }
  if (decided && request.state === 'rejected') parts.push(mrkdwn`Rejected by ${decider(request)}, ${decided}`)
  parts.push(mrkdwn`Request ${code(shortId(request))}`)
  return joinMrkdwn(parts, '  ·  ')
}

function decider(request: Request): Mrkdwn {
  return request.decision?.by ? mention(request.decision.by) : mrkdwn`the rules`
}

function buttons({ request, reverseLabel, handoverLabel }: CardView): KnownBlock[] {
  const make = (name: CardButton, text: string, style?: 'primary' | 'danger') =>
    button({ text, actionId: cardButtons[name], value: request.id, ...(style ? { style } : {}) })
  // A block id of its own for every revision: Slack keeps what was entered in a block whose id stays.
  const row = (elements: ReturnType<typeof button>[]) => actions(elements, `card-${request.id}-${request.revision}`)

  switch (request.state) {
    case 'waiting':
      return request.needsApproval
        ? row([make('approve', 'Approve', 'primary'), make('reject', 'Reject', 'danger'), make('withdraw', 'Withdraw')])
        : []
    case 'approved':
      return handoverLabel ? row([make('take', handoverLabel, 'primary'), make('withdraw', 'Withdraw')]) : []
    case 'done':
      return reverseLabel ? row([make('reverse', reverseLabel)]) : []
    case 'failed':
    case 'not-started':
    case 'superseded':
    case 'void':
    case 'rejected':
    case 'withdrawn':
    case 'expired':
      return row([make('again', 'Request again')])
    default:
      return []
  }
}

/** The whole card in words, for notifications and screen readers. */
function fallbackText(view: CardView): Mrkdwn {
  const { request, description } = view
  const facts = description.facts.map((fact) => mrkdwn`${fact.label}: ${fact.value}${fact.detail ? ` (${fact.detail})` : ''}`)
  const lines = [
    mrkdwn`${view.environment ? `[${view.environment}] ` : ''}${description.sentence}`,
    statusLine(view),
    ...facts,
    ...(request.reason ? [mrkdwn`Reason: ${quote(request.reason)}`] : []),
    ...(request.unchecked.length > 0 ? [mrkdwn`Not checked: ${request.unchecked.join('; ')}.`] : []),
    history(view),
  ]
  return joinMrkdwn(lines, '\n')
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
