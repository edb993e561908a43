import type { KnownBlock } from '@slack/web-api'
import { actions } from '../../../slack/blocks/blocks.ts'
import { message } from '../../../slack/blocks/message.ts'
import { charactersIn, mostCharacters } from '../../../slack/text/characters.ts'
import { joinMrkdwn } from '../../../slack/text/text.ts'
import type { Message } from '../../../slack/web-api/messenger.ts'
import { cardActions } from './card-actions.ts'
import type { CardView } from './card-view.ts'
import { detailsBlocks } from './details.ts'
import { finishedBlocks, finishedText, isFinished } from './finished-card.ts'
import { openBlocks, openText } from './open-card.ts'

/**
 * Renders the card of a request from its record, anew for every change. While the request is open, the card shows all of it, because
 * approvers approve what they see. Once it is finished, two lines are left, and the button *Details* shows the rest.
 */
export function approvalCard(view: CardView): Message {
  const lines = isFinished(view) ? finishedText(view) : openText(view)
  return message({ text: joinMrkdwn(lines, '\n'), blocks: cardBlocks(view) })
}

function cardBlocks(view: CardView): KnownBlock[] {
  const { request } = view
  // Slack keeps what was entered in a block whose id stays, so each revision has another id.
  const buttons = actions(cardActions(view), `card-${request.id}-${request.revision}`)
  return [...(isFinished(view) ? finishedBlocks(view) : openBlocks(view)), ...buttons]
}

/** Returns whether one message can show the whole request, now and in every later state. A request that does not fit is refused. */
export function fitsOnCard(view: CardView): boolean {
  return [cardBlocks(view), detailsBlocks(view)].every(
    (blocks) => blocks.length <= mostBlocks - laterBlocks && charactersIn(blocks) <= mostCharacters - laterCharacters,
  )
}

const mostBlocks = 50

/** Blocks that later states add: the approvals, and the reason of a decision. */
const laterBlocks = 3

/** Characters that later states add: approvals, the outcome, and a reason of 500 characters, each up to five once escaped. */
const laterCharacters = 5_000
