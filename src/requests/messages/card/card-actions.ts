import type { Button } from '@slack/web-api'
import { isMachine } from '../../../domain/approval/origin.ts'
import { restOf } from '../../../domain/request/request-item.ts'
import { phraseText } from '../../../domain/text/phrase.ts'
import { type ButtonParts, button } from '../../../slack/blocks/blocks.ts'
import { phraseWords } from '../../../slack/text/phrase-words.ts'
import { mrkdwn } from '../../../slack/text/text.ts'
import { buttonValue, type CardButton, cardButtons, retryLabel } from '../buttons.ts'
import { unsentOf, unsentWords } from '../items/items.ts'
import type { CardView } from './card-view.ts'
import { approveConfirmation } from './check-first.ts'

/** Returns the buttons that a request has in its state. `confirmsApproval`: *Approve* always asks once more. */
export function cardActions(view: CardView, { confirmsApproval = false } = {}): Button[] {
  const { request, isKnown, ending, reverseLabel, handoverLabel } = view
  const make = (name: CardButton, text: string, more: Partial<ButtonParts> = {}) =>
    button({ text, actionId: cardButtons[name], value: buttonValue(request), ...more })

  if (!isKnown) return []
  switch (request.state) {
    case 'waiting':
      return request.needsApproval
        ? [
            make('approve', 'Approve', { style: 'primary', confirm: approveConfirmation(view, confirmsApproval) }),
            make('reject', 'Reject', { style: 'danger' }),
            // Approvers reject what an alert requested, so that they say why.
            ...(isMachine(request.origin) ? [] : [make('withdraw', 'Withdraw')]),
          ]
        : []
    case 'approved':
      return [
        ...(handoverLabel ? [make('handOver', handoverLabel, { style: 'primary', confirm: handoverConfirmation(view) })] : []),
        make('withdraw', 'Withdraw', { confirm: withdrawConfirmation(view) }),
      ]
    case 'tracking':
      return [make('stopTracking', 'Stop tracking', { confirm: stopConfirmation(view) })]
    case 'untracked':
      return [make('trackAgain', 'Track again', { confirm: trackAgainConfirmation(view) }), make('details', 'Details')]
    case 'done':
      return [...(reverseLabel ? [make('reverse', reverseLabel)] : []), make('details', 'Details')]
    case 'failed':
      if (request.items) {
        return [...retryButtons(view, make), ...(reverseLabel ? [make('reverse', reverseLabel)] : []), make('details', 'Details')]
      }
      return [...(ending.next === undefined ? [make('again', 'Request again')] : []), make('details', 'Details')]
    case 'not-started':
    case 'superseded':
    case 'voided':
    case 'rejected':
    case 'withdrawn':
    case 'expired':
      return [...(ending.next === undefined ? [make('again', 'Request again')] : []), make('details', 'Details')]
    default:
      return []
  }
}

/** Offers to move the rest. If no item was moved, the button requests the same change again. */
function retryButtons({ items }: CardView, make: (name: CardButton, text: string) => Button): Button[] {
  if (items.every(({ state }) => state !== 'done')) return [make('again', 'Request again')]
  return restOf(items).length > 0 ? [make('retry', retryLabel)] : []
}

/** The dialog after a press that has a cost: a rotated key's old token stops working. */
function handoverConfirmation({ description, handoverLabel = '', handoverWarning }: CardView) {
  if (handoverWarning === undefined) return undefined
  const text = mrkdwn`${handoverWarning} The new one is shown once, only to you.`
  return { title: `${phraseText(description.title)}?`, text, confirm: handoverLabel, deny: 'Cancel' }
}

/** The dialog before an approval is lost. While nobody has approved, withdrawing stays one press. */
function withdrawConfirmation({ description }: CardView) {
  const text = mrkdwn`${phraseWords(description.title)}\nIt's approved, and nothing was sent to the account API yet. A new request needs a new approval.`
  return { title: 'Withdraw this request?', text, confirm: 'Withdraw', deny: 'Cancel' }
}

function stopConfirmation({ description, items }: CardView) {
  const consequence =
    unsentWords(items) === undefined
      ? "It was sent and can't be canceled. It may still finish, but no result will be posted."
      : "What was sent can't be canceled and may still finish. What wasn't sent yet won't be sent. No result will be posted."
  const text = mrkdwn`${phraseWords(description.title)}\n${consequence}`
  return { title: 'Stop tracking?', text, confirm: 'Stop tracking', deny: 'Keep tracking' }
}

/** The dialog before the tracking of an evacuation goes on, if that changes more on the account. */
function trackAgainConfirmation({ items }: CardView) {
  const unsent = unsentWords(items)
  if (unsent === undefined) return undefined
  const text = mrkdwn`${unsent} Tracking again sends ${unsentOf(items)} to the account API now.`
  return { title: `Send ${unsentOf(items)}?`, text, confirm: 'Track again', deny: 'Cancel' }
}
