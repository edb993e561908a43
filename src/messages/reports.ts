import type { KnownBlock } from '@slack/web-api'
import { isMachine } from '../domain/approval.ts'
import { escalationOf, firstApproversOf, type Group, type PolicyRule, union } from '../domain/policy.ts'
import { isOpen, type Request } from '../domain/request.ts'
import { formatDuration } from '../domain/text.ts'
import type { ReportName } from '../record/steps.ts'
import { context, message, reasonBlocks, wholeSection } from '../slack/blocks.ts'
import { type Answerable, inEachLayout } from '../slack/interactions.ts'
import {
  charactersIn,
  code,
  dateTime,
  dayAndTime,
  joinMrkdwn,
  type Mrkdwn,
  mention,
  mostCharacters,
  mrkdwn,
  nameWords,
  phraseWords,
  quotedTitle,
} from '../slack/text.ts'
import { type ItemView, isPartlyDone, movedCount, outcomeBlocks, outcomeTable, restOf, stateWithCount, underwayNames } from './items.ts'
import { type CardView, newsOf } from './request-content.ts'
import { outcomeOf } from './request-outcome.ts'
import { holdShown, pressBy, tooLateWords } from './request-status.ts'
import {
  approvedBy,
  approvedSoFar,
  countApprovals,
  emergenciesIn,
  emergencyReason,
  endMarks,
  heldWords,
  mayHaveEndedBefore,
  pastWords,
  shortId,
  timeTaken,
  timeTakenWords,
  whoIsIn,
} from './request-words.ts'
import { isDistrusted, whyWords } from './why-not.ts'

export interface ReportView extends CardView {
  /** Shows the person who acted, by name. A mention would ring their phone for what they did themselves. */
  showActor: (userId: string) => Mrkdwn
  /** The longest time that the change should take, in words: `15 min`. */
  lateAfter: string
  now: number
}

const checkTheAccount = 'Check the account before you request it again.'

function endSentence(view: ReportView): Mrkdwn {
  const { request, description, showActor } = view
  const { state } = request
  const { mark, name, notes, consequence } = outcomeOf(view)
  if (state === 'done') return doneSentence(view, mark, notes)
  const [by] = actorsIn(request, 'ended')
  // The title first, because a locked phone shows only the beginning.
  const who = by === undefined ? mrkdwn`` : mrkdwn` by ${showActor(by)}`
  const parts = [mrkdwn`${mark} *${name}:* ${quotedTitle(description.title)}${who}.`, consequence, mrkdwn`${adviceAfter(view)}`]
  return joinMrkdwn(
    parts.filter(({ text }) => text !== ''),
    ' ',
  )
}

/** `notes`: something that keeps the change from being of use. */
function doneSentence({ request, done }: ReportView, mark: string, notes: Mrkdwn): Mrkdwn {
  const took = timeTakenWords(request)
  const late = request.lateAt === undefined ? '' : ', longer than expected'
  return mrkdwn`${mark} *Done.* ${phraseWords(done)}${notes.text === '' ? '' : mrkdwn` ${notes}`}${took === undefined ? '' : ` It ${took}${late}.`}`
}

function adviceAfter({ request: { state, items, acceptedAt, untrackedMs }, ending }: ReportView): string {
  if (state !== 'failed' || items || ending.next !== undefined) return ''
  // A change that was never accepted or seen has left nothing behind on the account.
  return acceptedAt === undefined && untrackedMs === undefined ? '' : checkTheAccount
}

function adviceAfterItems(items: ItemView[]): Mrkdwn {
  if (!isPartlyDone(items)) return mrkdwn`${checkTheAccount}`
  const retry = restOf(items).length > 0 ? '*Retry the rest* or ' : ''
  return mrkdwn`Above: ${retry}*Move back*.`
}

// Messages that call people to act. Each mentions those who can, and nobody else: a mention notifies a phone.

/** `isEscalation`: those who are escalated to are called, too. */
function approversCall({ request, description, rule, now }: ReportView, isEscalation = false): Mrkdwn | undefined {
  if (request.state !== 'waiting' || !rule?.approve) return undefined
  const { origin, expiresAt } = request
  const { standing } = countApprovals(request, rule)
  const others = isEscalation ? escalationOf(rule.approve)?.to : undefined
  const among = others ? union([firstToCall(rule), others]) : firstToCall(rule)
  const called = peopleToCall(among, [origin.userId, ...standing.map(({ by }) => by)])
  const news = request.alert ? mrkdwn`${newsOf({ ...request, createdAt: now })}. ` : ''
  const words = mrkdwn`${news}${quotedTitle(description.title)} needs approval${approvedSoFar(request, rule)}, ${timeLeft(expiresAt - now)} left.`
  return mrkdwn`:hourglass_flowing_sand: ${called ? mrkdwn`${called} ${words}` : words}`
}

/** In every later state, too. People choose their names, so the name is linked to the profile. */
function emergencyCall(view: ReportView): Mrkdwn | undefined {
  const { request, description, rule, handover, showActor } = view
  const { decision, origin, state } = request
  const urgent = emergenciesIn(request)
  if (!decision?.breakGlass && urgent.length === 0) return undefined
  const called = rule && peopleToCall(firstToCall(rule), actorsIn(request, 'break-glass'))
  const title = quotedTitle(description.title)
  const what = decision?.breakGlass
    ? [mrkdwn`${showActor(origin.userId)} approved their own request ${title}${pastWords(decision.passed)}`]
    : urgent.map(({ by, passed }, index) => mrkdwn`${showActor(by)} approved ${index === 0 ? title : 'it'}${pastWords(passed)}`)
  const { needed, counted } = countApprovals(request, rule)
  // What nothing holds is sent before anybody reads this.
  const hold = state === 'approved' ? holdShown(view) : undefined
  const before = hold?.until === undefined ? 'it is sent' : dayAndTime(hold.until)
  const isUnsent = hold !== undefined || (state === 'approved' && handover !== undefined)
  const sent = isUnsent ? mrkdwn`If it's wrong, press *Withdraw* before ${before}.` : 'Check the reason and the result.'
  const more = state === 'waiting' ? `It was approval ${counted} of ${needed}.` : sent
  return mrkdwn`:rotating_light: *Emergency approval.* ${called ? mrkdwn`${called}: ` : ''}${joinMrkdwn(what, '; ')}. ${more}`
}

/** Mentions the requester of a secret, who has to act after the approval, because the update of the request message notifies nobody. */
function handoverCall(view: ReportView, isReminder: boolean): Mrkdwn | undefined {
  const { request, description, handover, held, showActor, now } = view
  if (request.state !== 'approved' || !handover) return undefined
  const [requester, title] = [mention(request.origin.userId), quotedTitle(description.title)]
  // A phone shows the beginning.
  const late = tooLateWords(view)
  if (isReminder && late) return undefined
  const called = held ? mrkdwn`${heldWords(held)} Then, press` : 'Press'
  const press = mrkdwn`${requester} ${late ?? mrkdwn`${called} *${handover.label}* above${pressBy(view)}`}`
  if (isReminder) return mrkdwn`:hourglass_flowing_sand: ${press} (${timeLeft(request.expiresAt - now)} left): ${title}.`
  const approvers = approvedBy(request).map((by) => showActor(by))
  return mrkdwn`${press}. Approved by ${joinMrkdwn(approvers, ' and ')}: ${title}.`
}

function firstToCall({ approve, mention: mentioned }: PolicyRule): Group {
  return mentioned ?? (approve ? firstApproversOf(approve) : { users: [], userGroups: [] })
}

/** `without`: people who need not act. Their groups are still mentioned. */
function peopleToCall({ users, userGroups }: Group, without: string[]): Mrkdwn | undefined {
  const called = whoIsIn({ users: users.filter((id) => !without.includes(id)), userGroups })
  return called.text === '' ? undefined : called
}

/** Rounds up to whole minutes, unless less than two minutes are left. */
function timeLeft(ms: number): string {
  return formatDuration(ms < 120_000 ? ms : Math.ceil(ms / 60_000) * 60_000)
}

/** Renders a report for the thread. Undefined if it no longer applies, for example a reminder after the decision. */
export function report(view: ReportView, name: ReportName): Answerable | undefined {
  const text = sentence(view, name)
  if (text === undefined) return undefined
  const { request, left, showActor } = view
  const items = name === 'ended' && request.items ? timedItems(view) : []
  // What stays as it is belongs to the end of a change that was begun.
  const stays = left?.words && name === 'ended' && request.items ? wholeSection(phraseWords(left.words, showActor)) : []
  const advice = request.state === 'failed' && items.length > 0 ? wholeSection(adviceAfterItems(items)) : []
  const reason = reasonBlocks('Reason', reasonOf(request, name), view.rule?.reason)
  const withOutcomes = (outcomes: KnownBlock[]) => message([...wholeSection(text), ...reason, ...outcomes, ...stays, ...advice])
  const instead = withOutcomes(outcomeBlocks(items))
  const table = outcomeTable(items)
  // A note on a repeat may be added below it.
  if (!table || charactersIn([table]) > mostCharacters - 2_000) return instead
  return { table: { ...withOutcomes([table]), text: instead.text }, instead }
}

/** While it was not tracked, or the account API did not answer, nobody knows when each item ended. */
function timedItems({ request, items }: ReportView): ItemView[] {
  return mayHaveEndedBefore(request) ? items.map((item) => ({ ...item, sentAt: undefined })) : items
}

function reasonOf(request: Request, name: ReportName): string | undefined {
  if (name === 'break-glass') return emergencyReason(request)
  return name === 'ended' && request.state === 'rejected' ? request.decision?.reason : undefined
}

function sentence(view: ReportView, name: ReportName): Mrkdwn | undefined {
  switch (name) {
    case 'reminder-half':
    case 'reminder-last':
      return approversCall(view)
    case 'escalation':
      return approversCall(view, true)
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

function news(
  view: ReportView,
  name: 'remark' | 'late' | 'resolved' | 'target-alerted' | 'outdated' | 'stopped' | 'ended',
): Mrkdwn | undefined {
  const { request, description, remark } = view
  switch (name) {
    case 'remark':
      return remark === undefined ? undefined : mrkdwn`:information_source: ${remark}`
    case 'late':
      return lateSentence(view)
    case 'resolved':
      return resolvedSentence(view)
    case 'target-alerted':
      return targetSentence(view)
    case 'outdated':
      return mrkdwn`:warning: *The request message is out of date.* ${quotedTitle(description.title)}: *${stateWithCount(request, description.underway)}*. Steps: ${code(`${request.origin.command} audit ${shortId(request)}`)}`
    case 'stopped':
      return stoppedSentence(view)
    case 'ended':
      return endSentence(view)
  }
}

/** A machine's request mentions its approvers. News after the end mentions nobody, and a stop does not call the person who stopped it. */
function whomToMention({ origin, approvals, state, stoppedBy }: Request, name: ReportName): Mrkdwn[] {
  if (name === 'resolved' && !isOpen(state)) return []
  const userIds = new Set(isMachine(origin) ? approvals.map(({ by }) => by) : [origin.userId])
  if (name === 'stopped' && stoppedBy !== undefined) userIds.delete(stoppedBy)
  return [...userIds].map(mention)
}

export function actorsIn(request: Request, name: ReportName): string[] {
  if (name === 'break-glass') return request.decision?.breakGlass ? [request.origin.userId] : emergenciesIn(request).map(({ by }) => by)
  if (name === 'approved') return approvedBy(request)
  if (name === 'stopped') return request.stoppedBy === undefined ? [] : [request.stoppedBy]
  if (name !== 'ended') return []
  const actor = request.state === 'rejected' ? request.decision?.by : request.state === 'withdrawn' ? request.withdrawnBy : undefined
  return actor === undefined ? [] : [actor]
}

/** Or fires again since. */
function resolvedSentence(view: ReportView): Mrkdwn {
  const { request, description, reverseLabel } = view
  const isFiring = request.alertResolved === false
  const what = isFiring ? mrkdwn`:rotating_light: The alert fires again.` : mrkdwn`:information_source: The alert resolved.`
  if (isOpen(request.state)) return mrkdwn`${what} ${goesOn(view, !isFiring)}`
  const undo = reverseLabel === undefined || isFiring ? '' : mrkdwn` To undo it: *${reverseLabel}* above.`
  return mrkdwn`${what} ${quotedTitle(description.title)} has ended: ${stateWithCount(request)}.${undo}`
}

function targetSentence(view: ReportView): Mrkdwn | undefined {
  const { request, targetAlert } = view
  if (!targetAlert || !isOpen(request.state)) return undefined
  const mark = targetAlert.isNote ? ':information_source:' : ':rotating_light:'
  return mrkdwn`${mark} ${whyWords(targetAlert)} ${goesOn(view, !targetAlert.isNote)}`
}

function goesOn({ request, description, items }: ReportView, mayStop: boolean): Mrkdwn {
  const title = quotedTitle(description.title)
  const stop = (label: string) => (mayStop ? mrkdwn` To stop it, press *${label}*.` : mrkdwn``)
  if (request.state === 'approved')
    return mrkdwn`${title} is approved. Lockkeeper checks the account again before it starts.${stop('Withdraw')}`
  if (items.some(({ state }) => state === 'waiting')) return mrkdwn`${title} goes on.${stop('Stop the rest')}`
  return mrkdwn`${title} was sent${mayStop ? " and can't be withdrawn" : ''}.`
}

function stoppedSentence(view: ReportView): Mrkdwn | undefined {
  const { request, description, showActor } = view
  if (request.state !== 'untracked') return undefined
  const isSuspect = isDistrusted(request)
  const who = request.stoppedBy ? showActor(request.stoppedBy) : mrkdwn`Someone`
  const stopped = isSuspect ? '' : mrkdwn` ${who} stopped tracking after ${timeTaken(request)}.`
  return mrkdwn`${isSuspect ? ':rotating_light:' : endMarks.untracked} *No longer tracked:* ${quotedTitle(description.title)}.${stopped} ${outcomeOf(view).consequence}`
}

function lateSentence({ request, description, items, target, lateAfter, now }: ReportView): Mrkdwn | undefined {
  const { state, unansweredSince } = request
  if (state !== 'starting' && state !== 'tracking') return undefined
  const title = quotedTitle(description.title)
  const took = timeTaken(request, now)
  if (unansweredSince !== undefined) {
    const before = items.length === 0 ? mrkdwn`It may be done.` : mrkdwn`${movedCount(items)} before that, and more may have moved since.`
    return mrkdwn`:warning: *Status unknown:* ${title} was sent ${took} ago. The account API hasn't answered since ${dateTime(unansweredSince)}. ${before} Still checking. If it's urgent, check the provider's dashboard.`
  }
  if (state === 'starting')
    return mrkdwn`:warning: *Status unknown:* ${title} was sent ${took} ago. The account API hasn't confirmed it. ${lastSeenWords(request)} Still checking.`
  // What was seen of an item is kept with it.
  const isSeen = items.some((item) => item.state === 'tracking') || request.lastSeen
  const left = mrkdwn`${isSeen ? 'Still under way' : 'Check the account'}: ${underwayNames(items)}.`
  const seen = items.length > 0 ? mrkdwn`${movedCount(items)}. ${left}` : lastSeenWords(request)
  const evacuate = mrkdwn`${code(`${request.origin.command} evacuate ${target}`)}`
  const away = target === undefined ? '' : mrkdwn` If ${nameWords(target)} is down, press *Stop tracking* above. Then use ${evacuate}.`
  const still = isSeen ? `is still ${description.underway}` : "isn't confirmed"
  return mrkdwn`:warning: *Late:* ${title} ${still} after ${took} (expected within ${lateAfter}${items.length > 0 ? ' each' : ''}). ${seen}${away} If it's urgent, contact the provider's support.`
}

function lastSeenWords({ lastSeen }: Request): Mrkdwn {
  if (!lastSeen) return mrkdwn`The account doesn't show its status.`
  const { status, server } = lastSeen
  return mrkdwn`The account shows status ${nameWords(status)}${server === undefined ? '' : mrkdwn`, on ${server === null ? 'no server' : nameWords(server)}`}.`
}

export function asRepeat(original: Answerable): Answerable {
  return withNote(original, mrkdwn`Possible duplicate: Slack didn't confirm the first one.`)
}

export function asDirect(original: Answerable, request: Request, error: string): Answerable {
  return withNote(original, mrkdwn`Sent here because Lockkeeper couldn't post in the thread in <#${request.origin.channelId}> (${error}).`)
}

function withNote(original: Answerable, note: Mrkdwn): Answerable {
  return inEachLayout(original, ({ blocks }) => message([...blocks, ...context([note])]))
}
