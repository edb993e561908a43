import type { Button, KnownBlock } from '@slack/web-api'
import { isMachine } from '../domain/approval.ts'
import type { Waits } from '../domain/request.ts'
import { phraseText } from '../domain/text.ts'
import { actions, type ButtonParts, button, context, message, wholeSection } from '../slack/blocks.ts'
import { fit } from '../slack/fit.ts'
import {
  charactersIn,
  code,
  dateTime,
  joinMrkdwn,
  type Mrkdwn,
  mention,
  mostCharacters,
  mrkdwn,
  phraseWords,
  unlinked,
} from '../slack/text.ts'
import type { Message } from '../slack/web-api.ts'
import { buttonValue, type CardButton, cardButtons, retryLabel } from './button-ids.ts'
import { itemBlocks, restOf, unsentWords } from './items.ts'
import {
  alertLines,
  type CardView,
  checkBlocks,
  checkLines,
  contentBlocks,
  leftBlocks,
  sourceBlocks,
  titleBlocks,
} from './request-content.ts'
import { detailsBlocks } from './request-details.ts'
import { finishedBlocks, isFinished, peopleOf } from './request-outcome.ts'
import { holdShown, statusLine } from './request-status.ts'
import { countApprovals, heldWords, pastWords, shortId } from './request-words.ts'

/** All of an open request, because approvers approve what they see. Once it is finished, two lines are left, and *Details* shows the rest. */
export function approvalCard(view: CardView): Message {
  const { state, needsApproval, alert } = view.request
  // A locked phone shows only the beginning. An alert's begins with the alert, and ends with a question mark.
  const asks = view.isKnown && state === 'waiting' && needsApproval && alert === undefined
  return message(cardBlocks(view), checksToApprove(view), asks ? 'Approval needed: ' : '')
}

function cardBlocks(view: CardView): KnownBlock[] {
  const { request, items } = view
  // Slack keeps what was entered in a block whose id stays, so each revision has another id.
  const buttons = actions(cardActions(view), `card-${request.id}-${request.revision}`)
  if (!isFinished(view)) return [...titleBlocks(view), ...cardBody(view), ...buttons, ...cardRest(view), ...sourceBlocks(view)]
  const notDone = request.items ? items.filter(({ state }) => state !== 'done') : []
  return [...finishedBlocks(view), ...buttons, ...itemBlocks(notDone, request)]
}

/** Whether 50 blocks can show it in every later state. Those add three blocks, and 5,000 characters: the outcome, and a reason (escaped). */
export function fitsOnCard(view: CardView): boolean {
  return [cardBlocks(view), detailsBlocks(view)].every(
    (blocks) => blocks.length <= 50 - 3 && charactersIn(fit(blocks)) <= mostCharacters - 5_000,
  )
}

/** The most items above the buttons, so that a phone shows the buttons without scrolling. Those of more stand below. */
const mostAbove = 5

/** What people need before they press a button. */
export function cardBody(view: CardView, status: Mrkdwn = statusLine(view)): KnownBlock[] {
  return [
    ...wholeSection(status),
    ...approvalLines(view),
    ...contentBlocks(view),
    ...itemBlocks(view.items, view.request, mostAbove),
    ...checksToApprove(view),
  ]
}

/** Once it is approved, they are in its details. Alerts that fire about the target stay until it starts. */
function checksToApprove(view: CardView): KnownBlock[] {
  return view.request.state === 'waiting' ? checkBlocks(view) : alertLines(view).flatMap((line) => wholeSection(line))
}

/** As counted at the last approval, because people can leave a group. Empty while one approval is enough and none was given. */
function approvalLines({ request, rule }: CardView): KnownBlock[] {
  const { approvals, missing, needsApproval, state } = request
  const { needed, counted } = countApprovals(request, rule)
  if (state !== 'waiting' || !needsApproval || (needed === 1 && approvals.length === 0)) return []
  const by = approvals.map(
    ({ by: userId, at, emergency, passed }) =>
      mrkdwn`${mention(userId)}, ${dateTime(at)}${emergency ? mrkdwn` (:rotating_light: emergency${pastWords(passed)})` : ''}`,
  )
  const others = approvals.length - counted
  const uncounted = others > 0 ? ` (${others} more ${others === 1 ? "doesn't" : "don't"} count)` : ''
  const enough = missing === 0 ? '. Enough by now: another press of *Approve* completes it.' : ''
  const whose = by.length > 0 ? mrkdwn`: ${joinMrkdwn(by, '; ')}` : ''
  return wholeSection(mrkdwn`:ballot_box_with_check: *${counted} of ${needed} approvals*${uncounted}${whose}${enough}`)
}

/** What stands below the buttons: all of many items, or the rest of those that were sent, what stays as it is, and small print. */
export function cardRest(view: CardView): KnownBlock[] {
  const { items, request } = view
  const people = request.state === 'waiting' ? [] : [peopleOf(request)]
  const small = joinMrkdwn([...people, code(shortId(request)), ...view.notes], '  ·  ')
  const below = items.length <= mostAbove ? [] : request.items ? items.slice(mostAbove) : items
  return [...itemBlocks(below, request), ...leftBlocks(view), ...context([small])]
}

/** `inList`: on Home, and in lists, where another request can come to where the pointer is. `isAlone`: to the requester, who can only approve it in an emergency. */
export function cardActions(view: CardView, { inList = false, isAlone = false } = {}): Button[] {
  const { request, description, items, isKnown, ending, hasNoForm, reverseLabel, handover, rule } = view
  const about = inList ? phraseText(description.title) : undefined
  const make = (name: CardButton, text: string, more: Partial<ButtonParts> = {}) =>
    button({ text, actionId: cardButtons[name], value: buttonValue(request), about, ...more })
  const title = phraseWords(description.title)
  const reverse = reverseLabel ? [make('reverse', reverseLabel)] : []
  const details = make('details', 'Details')

  if (!isKnown) return []
  switch (request.state) {
    case 'waiting': {
      // Until somebody has approved it, the message shows all of it.
      const decided = request.approvals.length > 0 ? [details] : []
      const confirm = inList ? confirmation('Withdraw this request?', title, 'Withdraw') : undefined
      return request.needsApproval
        ? [
            make('approve', isAlone ? 'Approve alone…' : 'Approve', {
              style: isAlone ? undefined : 'primary',
              confirm: approveConfirmation(view, inList),
            }),
            make('reject', 'Reject', { style: 'danger' }),
            // Approvers reject what an alert requested, so that they say why.
            ...(isMachine(request.origin) ? [] : [make('withdraw', 'Withdraw', { confirm })]),
            ...decided,
          ]
        : []
    }
    case 'approved': {
      // What does not fit is cut at its end.
      const lost = view.keeps
        ? mrkdwn`The key is then deleted at its end, or soon if that is past.\n${title}`
        : mrkdwn`${title}\nNothing was sent yet.`
      const hold = holdShown(view)
      return [
        ...(handover ? [make('handOver', handover.label, { style: 'primary', confirm: handoverConfirmation(view) })] : []),
        // Its approvers let it start. A rule that needs no approval has none.
        ...(hold?.mayStartNow && rule?.approve ? [make('startNow', 'Start now', { confirm: startNowConfirmation(view, hold) })] : []),
        make('withdraw', 'Withdraw', { confirm: confirmation('Withdraw this request?', lost, 'Withdraw') }),
        details,
      ]
    }
    case 'tracking': {
      const isSent = unsentWords(items) === undefined
      // Until then, a press would only lose the result.
      if (isSent && request.slowAt === undefined) return [details]
      const what = isSent ? 'What was sent may still finish.' : "Unsent moves won't be sent. Sent moves may still finish."
      const text = mrkdwn`${title}\n${what} No result will be posted.`
      const [stop, deny] = isSent ? ['Stop tracking', 'Keep tracking'] : ['Stop the rest', 'Keep going']
      return [make('stopTracking', stop, { confirm: confirmation(`${stop}?`, text, stop, deny) }), details]
    }
    case 'untracked': {
      const unsent = unsentWords(items)
      const sendRest =
        unsent === undefined ? undefined : confirmation('Send the rest?', mrkdwn`${unsent} This sends the rest now.`, 'Send the rest')
      // Looking for a secret deletes it, and somebody may use it by now.
      return [...(handover ? [] : [make('trackAgain', sendRest?.confirm ?? 'Track again', { confirm: sendRest })]), details]
    }
    case 'done':
      return [...reverse, details]
    case 'failed':
      // If no item was moved, the same change can be requested again.
      if (request.items && items.some(({ state }) => state === 'done'))
        return [...(restOf(items).length > 0 ? [make('retry', retryLabel)] : []), ...reverse, details]
      break
    case 'starting':
    case 'unknown':
      return [details]
  }
  return [...(ending.next === undefined && !hasNoForm ? [make('again', 'Request again')] : []), details]
}

function confirmation(title: string, text: Mrkdwn, confirm: string, deny = 'Cancel') {
  return { title, text, confirm, deny }
}

/** Slack takes 300 characters. */
const mostInDialog = 270

/** Whether an approval asks once more. `always`: on Home, and in lists. */
export function asksAgain(view: CardView, always: boolean): boolean {
  return always || checkLines(view).length > 0 || view.items.length > mostAbove || view.rule?.confirm === true
}

/**
 * Whether it asks in a form: because the rule has emergency approvals, which need one, or because what to check is newer than the request, and so
 * perhaps than a list and its dialog. There is no dialog before a form.
 */
export function asksInForm({ rule, request }: CardView, always: boolean): boolean {
  return rule?.breakGlass || rule?.emergency || (always && request.newWarnings.length > 0)
}

/** The change first, because the dialog hides the message. */
function approveConfirmation(view: CardView, always: boolean) {
  if (asksInForm(view, always) || !asksAgain(view, always)) return undefined
  const lines = checkLines(view).map(unlinked)
  const count = view.items.length
  const change = phraseWords(view.description.title)
  const fitting = lines.filter((_, last) => joinMrkdwn([change, ...lines.slice(0, last + 1)], '\n').text.length <= mostInDialog)
  const left = lines.length - fitting.length
  const text = joinMrkdwn([change, ...fitting, ...(left > 0 ? [mrkdwn`${left} more in the message.`] : [])], '\n')
  return confirmation(count > mostAbove ? `Approve ${count} moves?` : 'Approve this change?', text, 'Approve')
}

/** When it starts otherwise, as the message says it. */
function startNowConfirmation({ description }: CardView, hold: Waits) {
  const title = phraseWords(description.title)
  const text = mrkdwn`${title}\n${heldWords(hold)}`
  return confirmation('Start now?', text.text.length <= mostInDialog ? text : title, 'Start now')
}

function handoverConfirmation({ description, handover }: CardView) {
  if (handover?.warning === undefined) return undefined
  const text = mrkdwn`${handover.warning} Only you see the new one, once.`
  return confirmation(`${phraseText(description.title)}?`, text, handover.label)
}
