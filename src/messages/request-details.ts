import type { KnownBlock } from '@slack/web-api'
import type { Request } from '../domain/request.ts'
import { context, message, wholeSection } from '../slack/blocks.ts'
import { code, exactTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn, ownWords } from '../slack/text.ts'
import type { Message } from '../slack/web-api.ts'
import { itemBlocks } from './items.ts'
import { type CardView, checkBlocks, contentBlocks, leftBlocks, sourceBlocks, titleBlocks } from './request-content.ts'
import { isFinished, outcomeOf, rejectionBlocks, whatHappened } from './request-outcome.ts'
import { statusLine } from './request-status.ts'
import { pastWords, ruleWords } from './request-words.ts'

export function requestDetails(view: CardView): Message {
  return message(detailsBlocks(view))
}

export function detailsBlocks(view: CardView): KnownBlock[] {
  const { request } = view
  const rules = [request.rule, ...(request.otherRules ?? []).map(({ name }) => name)].map(ruleWords)
  return [
    ...(isFinished(view) ? wholeSection(whatHappened(view)) : [...titleBlocks(view), ...wholeSection(statusLine(view))]),
    ...rejectionBlocks(view),
    ...contentBlocks(view),
    ...itemBlocks(view.items, request),
    ...leftBlocks(view),
    ...checkBlocks(view),
    ...wholeSection(joinMrkdwn(timeline(view), '\n')),
    ...context([idsAnd(view, [joinMrkdwn(rules, ' and '), code(request.id)])]),
    ...sourceBlocks(view),
  ]
}

function timeline(view: CardView): Mrkdwn[] {
  const { request } = view
  const { decision, decidedAt, sentAt, lateAt, endedAt, state, unansweredSince, start, startNow } = request
  const events = [
    { time: request.createdAt, what: by('Requested', request.origin.userId) },
    ...request.approvals.map(({ at, by: who, emergency, passed }) => ({
      time: at,
      what: mrkdwn`${by(emergency ? ':rotating_light: *Emergency approval*' : 'Approved', who)}${pastWords(passed)}`,
    })),
    ...(request.approvals.some((approval) => approval.by === decision?.by) ? [] : [{ time: decidedAt, what: decisionWords(request) }]),
    { time: startNow ? undefined : start, what: 'Scheduled start' },
    { time: startNow?.at, what: mrkdwn`${by('Started now', startNow?.by)}${start ? mrkdwn`, instead of ${exactTime(start)}` : ''}` },
    { time: sentAt, what: 'Sent' },
    // A request with items is tracked before its writes are accepted.
    { time: request.items ? undefined : request.acceptedAt, what: 'Accepted' },
    { time: lateAt, what: 'Late' },
    { time: unansweredSince, what: 'The account API stopped answering' },
    ...(state === 'rejected' ? [] : [{ time: endedAt, what: endWords(view) }]),
  ]
  const known = events.flatMap(({ time, what }) => (time === undefined ? [] : [{ time, what }])).toSorted((a, b) => a.time - b.time)
  return known.map(({ time, what }) => mrkdwn`${exactTime(time)}  ${what}`)
}

function endWords(view: CardView): Mrkdwn {
  const { state, stoppedBy, withdrawnBy } = view.request
  return state === 'untracked' ? by('Tracking stopped', stoppedBy) : by(outcomeOf(view).name, withdrawnBy)
}

function decisionWords({ state, decision, needsApproval }: Request): string | Mrkdwn {
  if (state === 'rejected') return by('Rejected', decision?.by)
  if (!needsApproval) return 'No approval needed'
  if (!decision?.breakGlass) return by('Approved', decision?.by)
  return mrkdwn`${by(':rotating_light: *Emergency approval:* approved alone', decision.by)}${pastWords(decision.passed)}`
}

function by(what: string, userId: string | undefined): Mrkdwn {
  return userId === undefined ? mrkdwn`${ownWords(what)}` : mrkdwn`${ownWords(what)} by ${mention(userId)}`
}

function idsAnd({ description, notes }: CardView, more: Mrkdwn[]): Mrkdwn {
  const ids = description.ids.map(({ label, value }) => mrkdwn`${label} ${code(value)}`)
  return joinMrkdwn([...ids, ...notes, ...more], '  ·  ')
}
