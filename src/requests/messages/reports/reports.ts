import type { KnownBlock } from '@slack/web-api'
import { isMachine } from '../../../domain/approval/origin.ts'
import { isOpen, type Request } from '../../../domain/request/request.ts'
import { unansweredSince } from '../../../domain/request/unanswered.ts'
import { wholeSection } from '../../../slack/blocks/blocks.ts'
import { message } from '../../../slack/blocks/message.ts'
import { reasonBlocks } from '../../../slack/blocks/reason.ts'
import type { Answerable } from '../../../slack/lists/answerable.ts'
import { charactersIn, mostCharacters } from '../../../slack/text/characters.ts'
import { phraseWords, quotedTitle } from '../../../slack/text/phrase-words.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn } from '../../../slack/text/text.ts'
import type { ReportName } from '../../steps/step.ts'
import { outcomeBlocks, outcomeLines, outcomeTable } from '../items/item-outcomes.ts'
import type { ItemView } from '../items/item-view.ts'
import { isOne, movedCount, othersMayFinish, stateWithCount, underwayNames, unsentOf, unsentWords } from '../items/items.ts'
import { whyWords } from '../refusals/causes.ts'
import { isDistrusted } from '../refusals/unverified.ts'
import { mayHaveEndedBefore, shortId, timeTaken } from '../words.ts'
import { approvedBy, approversReminder, emergencyCall, handoverCall, handoverReminder } from './calls.ts'
import { adviceAfterItems, endSentence } from './end-report.ts'
import type { ReportView } from './report-view.ts'

/** Renders a report for the thread. Undefined if it no longer applies, for example a reminder after the decision. */
export function report(view: ReportView, name: ReportName): Answerable | undefined {
  const words = sentence(view, name)
  const items = endedItems(view, name)
  const below = [leavesWords(view, name), adviceAfterItems(view.request, items)].filter((each) => each !== undefined)
  return words && say(words, { reason: reasonOf(view, name), items, below })
}

/** Says what stays as it is, at the end of a change that was begun. */
function leavesWords({ request, leaves }: ReportView, name: ReportName): Mrkdwn | undefined {
  return leaves && request.items && (name === 'ended' || name === 'corrected') ? phraseWords(leaves) : undefined
}

function sentence(view: ReportView, name: ReportName): Mrkdwn | undefined {
  switch (name) {
    case 'reminder-half':
    case 'reminder-last':
      return approversReminder(view)
    case 'break-glass':
      return emergencyCall(view)
    case 'approved':
      return handoverCall(view)
    case 'handover-half':
    case 'handover-last':
      return handoverReminder(view)
    default: {
      const words = sentenceForRequester(view, name)
      return words && joinMrkdwn([...whomToMention(view.request, name), words], ' ')
    }
  }
}

/**
 * Mentions the requester, or the approvers if a machine requested. News about a request that has ended mentions nobody,
 * and a stop does not call the person who stopped it.
 */
function whomToMention({ origin, approvals, state, stoppedBy }: Request, name: ForRequester): Mrkdwn[] {
  if (name === 'resolved' && !isOpen(state)) return []
  const userIds = new Set(isMachine(origin) ? approvals.map(({ by }) => by) : [origin.userId])
  if (name === 'stopped' && stoppedBy !== undefined) userIds.delete(stoppedBy)
  return [...userIds].map(mention)
}

/** Returns the people whom a report shows by name, because they acted. */
export function actorsIn(request: Request, name: ReportName): string[] {
  if (name === 'approved') return approvedBy(request)
  if (name === 'stopped') return request.stoppedBy === undefined ? [] : [request.stoppedBy]
  if (name !== 'ended') return []
  const actor = request.state === 'rejected' ? request.decision?.by : request.state === 'withdrawn' ? request.withdrawnBy : undefined
  return actor === undefined ? [] : [actor]
}

type ForRequester = 'remark' | 'late' | 'resolved' | 'outdated' | 'restarted' | 'stopped' | 'ended' | 'corrected'

function sentenceForRequester(view: ReportView, name: ForRequester): Mrkdwn | undefined {
  const { request, description } = view
  switch (name) {
    case 'remark':
      return view.remark === undefined ? undefined : mrkdwn`:information_source: ${view.remark}`
    case 'late':
      return lateSentence(view)
    case 'resolved':
      return resolvedSentence(view)
    case 'outdated':
      return mrkdwn`:warning: *The request message is out of date:* Slack refused its update, so its buttons may be wrong. ${quotedTitle(description.title)} is now *${stateWithCount(request, description.underway)}*. ${code(`${request.origin.command} audit ${shortId(request)}`)} shows its steps.`
    case 'restarted':
      return request.state === 'tracking'
        ? mrkdwn`:arrows_counterclockwise: *Correction:* it did start. ${quotedTitle(description.title)} is ${description.underway}. The result will appear here.`
        : undefined
    case 'stopped':
      return stoppedSentence(view)
    case 'ended':
      return endSentence(view)
    case 'corrected':
      return mrkdwn`*Correction:* ${endSentence(view)}`
  }
}

function resolvedSentence({ request, description, reverseLabel }: ReportView): Mrkdwn {
  const what = mrkdwn`:information_source: The alert resolved. ${quotedTitle(description.title)}`
  if (isOpen(request.state)) return mrkdwn`${what} was approved before, so it goes on.`
  const ended = request.state === 'done' ? mrkdwn`${what} is already done.` : mrkdwn`${what} had already ended: ${stateWithCount(request)}.`
  return reverseLabel === undefined
    ? ended
    : mrkdwn`${ended} Lockkeeper doesn't undo it by itself. To undo it, press *${reverseLabel}* above.`
}

function stoppedSentence({ request, description, ending, items, showActor }: ReportView): Mrkdwn | undefined {
  if (request.state !== 'untracked') return undefined
  if (isDistrusted(request))
    return mrkdwn`:rotating_light: *No longer tracked:* ${quotedTitle(description.title)}. ${whyWords(ending)} It may still finish. Check the account.`
  const who = request.stoppedBy ? showActor(request.stoppedBy) : mrkdwn`Someone`
  const unsent = unsentWords(items)
  const rest =
    unsent === undefined
      ? mrkdwn`It may still finish. Press *Track again* above to learn how it ends.`
      : mrkdwn`${unsent}${othersMayFinish(items)} Press *Track again* above to send ${unsentOf(items)}.`
  return mrkdwn`:large_orange_circle: *No longer tracked:* ${quotedTitle(description.title)}. ${who} stopped tracking after ${timeTaken(request)}. ${rest}`
}

function lateSentence(view: ReportView): Mrkdwn | undefined {
  const { request, description, items, lateAfter, now } = view
  const since = unansweredSince(request)
  if (since !== undefined) return unseenSentence(view, since)
  if (request.state === 'tracking' && items.length > 1) {
    return mrkdwn`:warning: *Late:* ${quotedTitle(description.title)}. ${movedCount(items)} after ${timeTaken(request, now)} (expected within ${lateAfter} each). Still under way: ${underwayNames(items)}. Still tracking. If it's urgent, contact the provider's support.`
  }
  if (request.state === 'tracking') {
    // What was seen of an item is kept with it.
    const seen = isOne(items) ? mrkdwn`Still under way: ${underwayNames(items)}.` : lastSeenWords(request)
    return mrkdwn`:warning: *Late:* ${quotedTitle(description.title)} is still ${description.underway} after ${timeTaken(request, now)} (expected within ${lateAfter}). ${seen} Still tracking. The result will appear here. If it's urgent, contact the provider's support.`
  }
  if (request.state !== 'starting') return undefined
  return mrkdwn`:warning: *Status unknown:* ${quotedTitle(description.title)} was sent ${timeTaken(request, now)} ago. The account API hasn't confirmed it. ${lastSeenWords(request)} Still checking. The result will appear here.`
}

function unseenSentence({ request, description, items, now }: ReportView, since: number): Mrkdwn | undefined {
  if (request.state !== 'starting' && request.state !== 'tracking') return undefined
  const before = items.length < 2 ? mrkdwn`It may be done.` : mrkdwn`${movedCount(items)} before that, and more may have moved since.`
  return mrkdwn`:warning: *Status unknown:* ${quotedTitle(description.title)} was sent ${timeTaken(request, now)} ago. The account API hasn't answered since ${dateTime(since)}. ${before} Still checking. The result will appear here. If it's urgent, check the provider's dashboard.`
}

/** Says what the account showed when the change was reported as late. */
function lastSeenWords({ lastSeen }: Request): Mrkdwn {
  if (!lastSeen) return mrkdwn`The last check of the account didn't show its status.`
  const where =
    lastSeen.server === undefined ? mrkdwn`` : lastSeen.server === null ? mrkdwn`, on no server` : mrkdwn`, on ${code(lastSeen.server)}`
  return mrkdwn`The account shows status ${code(lastSeen.status)}${where}.`
}

/** Returns the reason that a report shows: of a rejection, or of an emergency approval. */
function reasonOf({ request: { state, decision } }: ReportView, name: ReportName): string | undefined {
  if (name === 'break-glass') return decision?.reason ?? 'none given'
  return name === 'ended' && state === 'rejected' ? decision?.reason : undefined
}

/** Returns the items that a report lists: all of them, at the end. A single item is in the sentence. */
function endedItems({ request, items }: ReportView, name: ReportName): ItemView[] {
  if ((name !== 'ended' && name !== 'corrected') || !request.items || isOne(items)) return []
  // While it was not tracked, or the account API did not answer, nobody knows when each item ended.
  return mayHaveEndedBefore(request) ? items.map((item) => ({ ...item, sentAt: undefined })) : items
}

interface Said {
  /** What a person wrote. */
  reason: string | undefined
  items: ItemView[]
  /** What stays as it is, and what to do next. Goes below the items. */
  below: Mrkdwn[]
}

function say(text: Mrkdwn, { reason, items, below }: Said): Answerable {
  const inWords = [reason ? mrkdwn`${text} Reason: ${code(reason)}` : text, ...(items.length > 0 ? [outcomeLines(items)] : []), ...below]
  const withOutcomes = (outcomes: KnownBlock[]) =>
    message({
      text: joinMrkdwn(inWords, '\n'),
      blocks: [...wholeSection(text), ...outcomes, ...below.flatMap(wholeSection), ...reasonBlocks('Reason', reason)],
    })
  const instead = withOutcomes(outcomeBlocks(items))
  const table = outcomeTable(items)
  // A note on a repeat may be added below it.
  if (!table || charactersIn(table) > mostCharacters - 2_000) return instead
  return { table: withOutcomes(table), instead }
}
