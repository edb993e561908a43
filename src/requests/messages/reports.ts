import type { Description } from '../../domain/change.ts'
import { formatDuration } from '../../domain/duration.ts'
import type { Words } from '../../domain/finding.ts'
import { approvalsNeeded, approversOf, type PolicyRule } from '../../domain/policy.ts'
import type { Request } from '../../domain/request.ts'
import { context, wholeSection } from '../../slack/blocks/blocks.ts'
import { message } from '../../slack/blocks/message.ts'
import { code, type Mrkdwn, mention, mrkdwn, ownWords } from '../../slack/text/text.ts'
import type { Message } from '../../slack/web-api/messenger.ts'
import type { ReportName } from '../steps.ts'
import { whoIsIn } from './approvers.ts'
import { timeTaken, tookNoTime } from './words.ts'

export interface ReportView {
  request: Request
  description: Description
  /** Why it ended as it did, and what to do next. */
  ending: Words
  /** The sentence that says that it is done. */
  done: string
  /** What was unexpected on the account when it was sent, and did not stand against it. */
  remark: string | undefined
  /** The policy's rule for it as it is now. */
  rule: PolicyRule | undefined
  /** `15 min`: what it should have taken at most. */
  lateAfter: string
  now: number
}

/** What the thread is told, mentioning the requester. Undefined when there is nothing to say any more. Pure. */
export function report(view: ReportView, name: ReportName): Message | undefined {
  if (name === 'reminder-half' || name === 'reminder-last') return reminder(view)
  if (name === 'break-glass') return breakGlassReport(view)
  const words = sentence(view, name)
  return words === undefined ? undefined : say(mrkdwn`${mention(view.request.origin.userId)} ${words}`)
}

/** To those whose approval is missing. */
function reminder({ request, description, rule, now }: ReportView): Message | undefined {
  if (request.state !== 'waiting' || !rule?.approve) return undefined
  const called = whoIsIn(rule.mention ?? approversOf(rule.approve))
  const needed = approvalsNeeded(rule.approve)
  const missing = request.missing ?? needed - request.approvals.length
  const more = request.approvals.length > 0 ? mrkdwn` It has ${needed - missing}, and needs ${missing} more.` : mrkdwn``
  const left = formatDuration(wholeMinutes(request.expiresAt - now))
  const callees = called.text === '' ? called : mrkdwn`${called} `
  const words = mrkdwn`:hourglass_flowing_sand: ${callees}“${description.sentence}” still waits for approval.${more} It expires in ${left}: press *Approve* or *Reject* on the card above.`
  return say(words)
}

/** Nobody counts seconds hours ahead. */
function wholeMinutes(ms: number): number {
  return ms < 120_000 ? ms : Math.ceil(ms / 60_000) * 60_000
}

function sentence(view: ReportView, name: Exclude<ReportName, 'reminder-half' | 'reminder-last' | 'break-glass'>): Mrkdwn | undefined {
  const { request, description } = view
  switch (name) {
    case 'remark':
      return view.remark === undefined ? undefined : mrkdwn`:information_source: ${view.remark}`
    case 'late':
      return lateSentence(view)
    case 'restarted':
      return request.state === 'tracking'
        ? mrkdwn`:arrows_counterclockwise: *Correction:* it did start after all. “${description.sentence}” is ${description.underway} now; I follow it and report its end here.`
        : undefined
    case 'stopped':
      return stoppedSentence(view)
    case 'ended':
      return endSentence(view)
    case 'corrected':
      return mrkdwn`*Correction to what I reported before:* ${endSentence(view)}`
  }
}

/** Told to the channel, whatever has become of it meanwhile. */
function breakGlassReport({ request, description, rule }: ReportView): Message | undefined {
  const { decision, origin } = request
  if (!decision?.breakGlass) return undefined
  const called = rule?.approve ? whoIsIn(rule.mention ?? approversOf(rule.approve)) : mrkdwn``
  const callees = called.text === '' ? called : mrkdwn`${called}: `
  return say(
    mrkdwn`:rotating_light: *Break-glass.* ${callees}${mention(origin.userId)} asked for “${description.sentence}” and approved it alone. Reason: ${code(decision.reason ?? 'none given')}. Look at it now, and talk about it afterwards.`,
  )
}

function stoppedSentence({ request, description }: ReportView): Mrkdwn | undefined {
  if (request.state !== 'untracked') return undefined
  const who = request.stoppedBy ? mention(request.stoppedBy) : mrkdwn`Somebody`
  return mrkdwn`:large_orange_circle: *No longer followed:* “${description.sentence}”. ${who} stopped it after ${timeTaken(request)}. The account API had accepted it, so it may still complete, and I do not tell when. *Watch again* on the card takes it up again.`
}

function lateSentence({ request, description, lateAfter, now }: ReportView): Mrkdwn | undefined {
  if (request.state === 'tracking') {
    return mrkdwn`:warning: *Late:* “${description.sentence}” is still ${description.underway} after ${timeTaken(request, now)} (expected within ${lateAfter}). ${shown(request)} I keep following it and report its end here. If it matters now, ask the provider's support.`
  }
  if (request.state !== 'starting') return undefined
  return mrkdwn`:warning: *Not known:* “${description.sentence}” was sent ${timeTaken(request, now)} ago, and I could not find out yet whether it took effect. ${shown(request)} I keep looking and report it here.`
}

/** What the account showed when it was told as late. */
function shown({ lastSeen }: Request): Mrkdwn {
  if (!lastSeen) return mrkdwn`The last check of the account told nothing about it.`
  const where =
    lastSeen.server === undefined ? mrkdwn`` : lastSeen.server === null ? mrkdwn`, on no server` : mrkdwn`, on ${code(lastSeen.server)}`
  return mrkdwn`The account shows status ${code(lastSeen.status)}${where}.`
}

const stillWanted = mrkdwn`Press *Request again* on the card if it is still wanted.`

function endSentence({ request, description, done, ending }: ReportView): Mrkdwn {
  const late = request.lateAt === undefined ? '' : ', later than it should have'
  const { why, next } = ending
  switch (request.state) {
    case 'done':
      return tookNoTime(request)
        ? mrkdwn`:large_green_circle: *Done.* ${done}`
        : mrkdwn`:large_green_circle: *Done.* ${done} It took ${timeTaken(request)}${late}.`
    case 'failed':
      return mrkdwn`:red_circle: *Failed:* “${description.sentence}”. ${why} ${afterFailure(request, next)}`
    case 'not-started':
      return mrkdwn`:red_circle: *Not started:* “${description.sentence}”. ${why} ${next ?? stillWanted}`
    case 'superseded':
      return mrkdwn`:large_orange_circle: *Superseded:* “${description.sentence}”. ${why} I leave it as it is.`
    case 'voided':
      return mrkdwn`:large_orange_circle: *Nothing was done:* “${description.sentence}” was approved, but the account has changed since it was asked for. ${why} ${next ?? stillWanted}`
    case 'expired':
      if (why) return mrkdwn`:alarm_clock: *Expired:* “${description.sentence}”. ${why} Nothing was done.`
      return mrkdwn`:alarm_clock: *Expired:* nobody decided “${description.sentence}” in time, and nothing was done. ${stillWanted}`
    case 'rejected':
      return mrkdwn`:no_entry: *Rejected:* “${description.sentence}”. ${request.decision?.by ? mrkdwn`${mention(request.decision.by)} gives the reason:` : ''} ${request.decision?.reason ? code(request.decision.reason) : ''}`
    default:
      return mrkdwn`“${description.sentence}” is ${request.state}.`
  }
}

function afterFailure({ acceptedAt }: Request, next: string | undefined): string | Mrkdwn {
  if (next !== undefined) return next
  // What was never accepted or seen has left nothing behind to look at.
  return acceptedAt === undefined ? stillWanted : 'Look at it in the account before you ask again.'
}

/** The same message, with a word that it may have been sent before. */
export function asRepeat({ text, blocks }: Message): Message {
  const note = mrkdwn`This may be a repeat: Slack did not confirm that it took this message the first time.`
  return message({ text: mrkdwn`${ownWords(text)}\n${note}`, blocks: [...blocks, ...context([note])] })
}

/** A report that its channel does not take, sent to the requester directly. */
export function asDirect({ text, blocks }: Message, request: Request, error: string): Message {
  const note = mrkdwn`I tell you here because I could not post in the thread in <#${request.origin.channelId}> (${error}).`
  return message({ text: mrkdwn`${ownWords(text)}\n${note}`, blocks: [...blocks, ...context([note])] })
}

function say(text: Mrkdwn): Message {
  return message({ text, blocks: wholeSection(text) })
}
