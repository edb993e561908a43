import type { KnownBlock } from '@slack/web-api'
import type { Request } from '../../../domain/request/request.ts'
import { context, wholeSection } from '../../../slack/blocks/blocks.ts'
import { message } from '../../../slack/blocks/message.ts'
import { code, exactTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn } from '../../../slack/text/text.ts'
import type { Message } from '../../../slack/web-api/messenger.ts'
import { ruleWords } from '../rule-words.ts'
import { history } from './approvals.ts'
import type { CardView } from './card-view.ts'
import { checkBlocks, checksInWords } from './check-first.ts'
import { isFinished, outcomeText, rejectionBlocks, whatHappened } from './finished-card.ts'
import { contentBlocks, contentInWords, idWords, sourceBlocks, titleBlocks } from './open-card.ts'
import { statusLine } from './status-line.ts'

/** Renders the details that the card of a finished request leaves out, for the person who pressed *Details*. */
export function requestDetails(view: CardView): Message {
  const outcome = isFinished(view) ? outcomeText(view) : [statusLine(view)]
  return message({
    text: joinMrkdwn([...outcome, ...contentInWords(view), ...checksInWords(view), ...timeline(view), smallPrint(view)], '\n'),
    blocks: detailsBlocks(view),
  })
}

export function detailsBlocks(view: CardView): KnownBlock[] {
  const { request } = view
  return [
    ...(isFinished(view) ? wholeSection(whatHappened(view)) : [...titleBlocks(view), ...wholeSection(statusLine(view))]),
    ...rejectionBlocks(request),
    ...contentBlocks(view),
    ...checkBlocks(view),
    ...wholeSection(joinMrkdwn(timeline(view), '\n')),
    ...context([smallPrint(view)]),
    ...sourceBlocks(view),
  ]
}

/** Lists what happened, in the order of time. */
function timeline({ request }: CardView): Mrkdwn[] {
  const isSeveral = (request.items ?? []).length > 1
  const { sentAt, lateAt, endedAt, stoppedBy, pauses, state, unanswered } = request
  const events = [
    { time: sentAt, what: 'Sent to the account API' },
    { time: acceptedAtOf(request), what: isSeveral ? 'First accepted by the account API' : 'Accepted by the account API' },
    { time: lateAt, what: 'Reported as late' },
    { time: unanswered?.since, what: 'The account API stopped answering' },
    { time: unanswered?.until, what: 'The account API answered again' },
    ...pauses.flatMap((pause) => [
      { time: pause.stoppedAt, what: by('Tracking stopped', pause.stoppedBy) },
      { time: pause.resumedAt, what: by('Tracked again', pause.resumedBy) },
    ]),
    ...(state === 'rejected' ? [] : [{ time: endedAt, what: state === 'untracked' ? by('Tracking stopped', stoppedBy) : 'Ended' }]),
  ]
  const known = events.flatMap(({ time, what }) => (time === undefined ? [] : [{ time, what }]))
  const inOrder = known.toSorted((one, other) => one.time - other.time)
  return [...history({ request }, exactTime), ...inOrder.map(({ time, what }) => mrkdwn`${what}, ${exactTime(time)}`)]
}

/** Returns when the account API accepted the first write. A request with items is tracked before that. */
function acceptedAtOf({ acceptedAt, items }: Request): number | undefined {
  if (!items) return acceptedAt
  const times = items.flatMap((item) => item.acceptedAt ?? [])
  return times.length > 0 ? Math.min(...times) : undefined
}

function by(what: string, userId: string | undefined): Mrkdwn {
  return userId === undefined ? mrkdwn`${what}` : mrkdwn`${what} by ${mention(userId)}`
}

function smallPrint({ request, description, notes }: CardView): Mrkdwn {
  return joinMrkdwn(
    [...description.ids.map(idWords), ...notes, mrkdwn`By ${ruleWords(request.rule)}`, mrkdwn`Request ${code(request.id)}`],
    '  ·  ',
  )
}
