import type { KnownBlock } from '@slack/web-api'
import { isMachine } from '../domain/approval.ts'
import { approvalsNeeded, approversOf, type PolicyRule } from '../domain/policy.ts'
import { isOpen, type Request, restOf } from '../domain/request.ts'
import { formatDuration, type Phrase } from '../domain/text.ts'
import type { ReportName } from '../requests/steps.ts'
import { context, message, reasonBlocks, wholeSection } from '../slack/blocks.ts'
import { type Answerable, inEachLayout } from '../slack/interactions.ts'
import {
  capitalised,
  charactersIn,
  code,
  dateTime,
  joinMrkdwn,
  type Mrkdwn,
  mention,
  mostCharacters,
  mrkdwn,
  phraseWords,
  quotedTitle,
} from '../slack/text.ts'
import {
  type ItemView,
  isPartlyDone,
  movedCount,
  notesOnDone,
  outcomeBlocks,
  outcomeTable,
  stateWithCount,
  underwayNames,
  unsentWords,
} from './items.ts'
import { isDistrusted, whyWords } from './refusals.ts'
import type { CardView } from './request-message.ts'
import { approvedBy, endMarks, mayHaveEndedBefore, shortId, stateWords, timeTaken, timeTakenWords, whoIsIn } from './words.ts'

export interface ReportView extends CardView {
  /** Shows the person who acted, by name or with other words. A mention would ring their phone for what they did themselves. */
  showActor: (userId: string, words?: string) => Mrkdwn
  /** The longest time that the change should take, in words: `15 min`. */
  lateAfter: string
  now: number
}

const checkTheAccount = 'Check the account before you request it again.'

const stillWanted = mrkdwn`Still wanted? Press *Request again* above.`

/** Says how a request ended, why, and what to do next. A rejection's reason is shown below it, and the outcomes of its items. */
function endSentence({ request, description, done, ending, items, showActor }: ReportView): Mrkdwn {
  const { state, decision, withdrawnBy } = request
  const why = whyWords(ending)
  const notes = request.items ? notesOnDone(items) : why
  if (state === 'done') return doneSentence(request, done, notes)
  const what = mrkdwn`“${phraseWords(description.title)}”`
  if (state === 'failed' && request.items) {
    const head = isPartlyDone(items) ? mrkdwn`${endMarks.partly} *Partly done:*` : mrkdwn`${endMarks.failed} *Failed:*`
    return mrkdwn`${head} ${what}. ${movedCount(items)}.${notes.text === '' ? '' : mrkdwn` ${notes}`}`
  }
  const by = state === 'rejected' ? decision?.by : state === 'withdrawn' ? withdrawnBy : undefined
  const end = capitalised(stateWords(request))
  const label = by === undefined ? mrkdwn`*${end}:*` : mrkdwn`*${end}* by ${showActor(by)}:`
  const next = ending.next === undefined ? stillWanted : mrkdwn`${ending.next}`
  const rest: Partial<Record<Request['state'], Mrkdwn[]>> = {
    failed: [why, ending.next === undefined ? afterFailure(request) : next],
    'not-started': [why, next],
    superseded: [why, mrkdwn`Lockkeeper leaves it as it is.`],
    voided: [mrkdwn`The account changed since the request. Nothing was done.`, why, next],
    expired: [why.text === '' ? mrkdwn`It wasn't approved before the deadline.` : why, mrkdwn`Nothing was done.`, next],
    withdrawn: [mrkdwn`Nothing was done.`, ...(by === undefined ? [] : [stillWanted])],
  }
  const parts = [mrkdwn`${endMarks[state as keyof typeof endMarks]} ${label} ${what}.`, ...(rest[state] ?? [])]
  return joinMrkdwn(
    parts.filter(({ text }) => text !== ''),
    ' ',
  )
}

/** Says what to do next, below the reasons why items failed. */
function adviceAfterItems(items: ItemView[]): Mrkdwn {
  if (!isPartlyDone(items)) return mrkdwn`${checkTheAccount}`
  return restOf(items).length > 0
    ? mrkdwn`Above, you can press *Retry the rest*, or *Move back* to undo what was moved.`
    : mrkdwn`Above, you can press *Move back* to undo what was moved.`
}

function doneSentence(request: Request, done: Phrase, note: Mrkdwn): Mrkdwn {
  const took = timeTakenWords(request)
  const late = request.lateAt === undefined ? '' : ', longer than expected'
  const time = mayHaveEndedBefore(request) ? capitalised(took ?? '') : `It ${took}`
  const parts = [
    mrkdwn`${note.text === '' ? endMarks.done : ':warning:'} *Done.* ${phraseWords(done)}`,
    ...(note.text === '' ? [] : [note]),
    ...(took === undefined ? [] : [mrkdwn`${time}${late}.`]),
  ]
  return joinMrkdwn(parts, ' ')
}

function afterFailure({ acceptedAt, untrackedMs }: Request): Mrkdwn {
  // A change that was never accepted or seen has left nothing behind on the account.
  return acceptedAt === undefined && untrackedMs === undefined ? stillWanted : mrkdwn`${checkTheAccount}`
}

// Messages that call people to act. Each mentions those who can, and nobody else: a mention notifies a phone.

function approversReminder({ request, description, rule, now }: ReportView): Mrkdwn | undefined {
  if (request.state !== 'waiting' || !rule?.approve) return undefined
  const { approvals, origin, expiresAt } = request
  const needed = approvalsNeeded(rule.approve)
  const missing = request.missing ?? needed - approvals.length
  const soFar = approvals.length > 0 ? mrkdwn` (${needed - missing} of ${needed} so far)` : mrkdwn``
  const called = peopleToCall(rule, [origin.userId, ...approvals.map(({ by }) => by)])
  const words = mrkdwn`${quotedTitle(description.title)} still needs approval${soFar}. Expires in ${timeLeft(expiresAt - now)}. Press *Approve* or *Reject* above.`
  return mrkdwn`:hourglass_flowing_sand: ${joinMrkdwn([...called, words], ' ')}`
}

/**
 * Notifies the approvers of an emergency approval, in every later state, too. It links the requester's profile and leaves out the name, because
 * people choose their names, and one who does this could take that of another.
 */
function emergencyCall({ request, description, rule, showActor }: ReportView): Mrkdwn | undefined {
  const { decision, origin } = request
  if (!decision?.breakGlass) return undefined
  const called = rule ? peopleToCall(rule, [origin.userId]) : []
  const callees = called.map((each) => mrkdwn`${each}: `)
  const words = mrkdwn`${showActor(origin.userId, 'The requester')} approved their own request alone: ${quotedTitle(description.title)}. Check it now.`
  return mrkdwn`:rotating_light: *Emergency approval.* ${joinMrkdwn([...callees, words], '')}`
}

/** Mentions the requester of a secret, who has to act after the approval, because the update of the request message notifies nobody. */
function handoverCall({ request, description, handover, showActor, now }: ReportView, isReminder: boolean): Mrkdwn | undefined {
  if (request.state !== 'approved' || !handover) return undefined
  const [requester, title] = [mention(request.origin.userId), quotedTitle(description.title)]
  const press = mrkdwn`Press *${handover.label}* above by ${dateTime(request.expiresAt)}`
  if (isReminder)
    return mrkdwn`:hourglass_flowing_sand: ${requester}, ${title} is approved. ${press} (${timeLeft(request.expiresAt - now)} left).`
  const approvers = approvedBy(request).map((by) => showActor(by))
  return mrkdwn`${requester}, approved by ${joinMrkdwn(approvers, ' and ')}: ${title}. ${press}.`
}

/**
 * Returns the mentions of the people whom a rule notifies, or none. `without`: people who need not act. Their groups are still mentioned.
 */
function peopleToCall({ approve, mention: mentioned }: PolicyRule, without: string[]): Mrkdwn[] {
  const { users, userGroups } = mentioned ?? (approve ? approversOf(approve) : { users: [], userGroups: [] })
  const called = whoIsIn({ users: users.filter((id) => !without.includes(id)), userGroups })
  return called.text === '' ? [] : [called]
}

/** Rounds up to whole minutes, unless less than two minutes are left. */
function timeLeft(ms: number): string {
  return formatDuration(ms < 120_000 ? ms : Math.ceil(ms / 60_000) * 60_000)
}

/** Renders a report for the thread. Undefined if it no longer applies, for example a reminder after the decision. */
export function report(view: ReportView, name: ReportName): Answerable | undefined {
  const text = sentence(view, name)
  if (text === undefined) return undefined
  const { request, leaves } = view
  const items = name === 'ended' && request.items ? timedItems(view) : []
  // What stays as it is belongs to the end of a change that was begun.
  const left = leaves && name === 'ended' && request.items ? wholeSection(phraseWords(leaves)) : []
  const advice = request.state === 'failed' && items.length > 0 ? wholeSection(adviceAfterItems(items)) : []
  const withOutcomes = (outcomes: KnownBlock[]) =>
    message([...wholeSection(text), ...reasonBlocks('Reason', reasonOf(view, name)), ...outcomes, ...left, ...advice])
  const instead = withOutcomes(outcomeBlocks(items))
  const table = outcomeTable(items)
  // A note on a repeat may be added below it.
  if (!table || charactersIn(table) > mostCharacters - 2_000) return instead
  return { table: { ...withOutcomes(table), text: instead.text }, instead }
}

/** While it was not tracked, or the account API did not answer, nobody knows when each item ended. */
function timedItems({ request, items }: ReportView): ItemView[] {
  return mayHaveEndedBefore(request) ? items.map((item) => ({ ...item, sentAt: undefined })) : items
}

function sentence(view: ReportView, name: ReportName): Mrkdwn | undefined {
  switch (name) {
    case 'reminder-half':
    case 'reminder-last':
      return approversReminder(view)
    case 'break-glass':
      return emergencyCall(view)
    case 'approved':
      return handoverCall(view, false)
    case 'handover-half':
    case 'handover-last':
      return handoverCall(view, true)
    default: {
      const words = news(view, name)
      return words && joinMrkdwn([...whomToMention(view.request, name), words], ' ')
    }
  }
}

/**
 * Mentions the requester, or the approvers if a machine requested. News about a request that has ended mentions nobody,
 * and a stop does not call the person who stopped it.
 */
function whomToMention({ origin, approvals, state, stoppedBy }: Request, name: News): Mrkdwn[] {
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

type News = 'remark' | 'late' | 'resolved' | 'outdated' | 'stopped' | 'ended'

function news(view: ReportView, name: News): Mrkdwn | undefined {
  const { request, description, remark } = view
  switch (name) {
    case 'remark':
      return remark === undefined ? undefined : mrkdwn`:information_source: ${remark}`
    case 'late':
      return lateSentence(view)
    case 'resolved':
      return resolvedSentence(view)
    case 'outdated':
      return mrkdwn`:warning: *The request message is out of date:* Slack refused its update, so its buttons may be wrong. ${quotedTitle(description.title)} is now *${stateWithCount(request, description.underway)}*. ${code(`${request.origin.command} audit ${shortId(request)}`)} shows its steps.`
    case 'stopped':
      return stoppedSentence(view)
    case 'ended':
      return endSentence(view)
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
  const rest = unsent
    ? mrkdwn`${unsent} Press *Track again* above to send the rest.`
    : mrkdwn`It may still finish. Press *Track again* above to learn how it ends.`
  return mrkdwn`:large_orange_circle: *No longer tracked:* ${quotedTitle(description.title)}. ${who} stopped tracking after ${timeTaken(request)}. ${rest}`
}

function lateSentence({ request, description, items, lateAfter, now }: ReportView): Mrkdwn | undefined {
  const { state, unansweredSince } = request
  if (state !== 'starting' && state !== 'tracking') return undefined
  const title = quotedTitle(description.title)
  const took = timeTaken(request, now)
  if (unansweredSince !== undefined) {
    const before = items.length === 0 ? mrkdwn`It may be done.` : mrkdwn`${movedCount(items)} before that, and more may have moved since.`
    return mrkdwn`:warning: *Status unknown:* ${title} was sent ${took} ago. The account API hasn't answered since ${dateTime(unansweredSince)}. ${before} Still checking. The result will appear here. If it's urgent, check the provider's dashboard.`
  }
  if (state === 'starting')
    return mrkdwn`:warning: *Status unknown:* ${title} was sent ${took} ago. The account API hasn't confirmed it. ${lastSeenWords(request)} Still checking. The result will appear here.`
  // What was seen of an item is kept with it.
  const seen = items.length > 0 ? mrkdwn`${movedCount(items)}. Still under way: ${underwayNames(items)}.` : lastSeenWords(request)
  return mrkdwn`:warning: *Late:* ${title} is still ${description.underway} after ${took} (expected within ${lateAfter}${items.length > 0 ? ' each' : ''}). ${seen} Still tracking. The result will appear here. If it's urgent, contact the provider's support.`
}

function lastSeenWords({ lastSeen }: Request): Mrkdwn {
  if (!lastSeen) return mrkdwn`The last check of the account didn't show its status.`
  const where =
    lastSeen.server === undefined ? mrkdwn`` : lastSeen.server === null ? mrkdwn`, on no server` : mrkdwn`, on ${code(lastSeen.server)}`
  return mrkdwn`The account shows status ${code(lastSeen.status)}${where}.`
}

function reasonOf({ request: { state, decision } }: ReportView, name: ReportName): string | undefined {
  if (name === 'break-glass') return decision?.reason ?? 'none given'
  return name === 'ended' && state === 'rejected' ? decision?.reason : undefined
}

export function asRepeat(original: Answerable): Answerable {
  return withNote(original, mrkdwn`Possible duplicate: Slack didn't confirm the first one.`)
}

/** Adds to a report why it goes to the requester directly. `error`: Slack's code for not posting it in the channel. */
export function asDirect(original: Answerable, request: Request, error: string): Answerable {
  return withNote(original, mrkdwn`Sent here because Lockkeeper couldn't post in the thread in <#${request.origin.channelId}> (${error}).`)
}

function withNote(original: Answerable, note: Mrkdwn): Answerable {
  return inEachLayout(original, ({ blocks }) => message([...blocks, ...context([note])]))
}
