import { formatDuration } from '../../domain/duration.ts'
import { approvalsNeeded, approversOf, type PolicyRule } from '../../domain/policy.ts'
import type { Request } from '../../domain/request.ts'
import { wholeSection } from '../../slack/blocks/blocks.ts'
import { message } from '../../slack/blocks/message.ts'
import { reasonBlocks } from '../../slack/blocks/reason.ts'
import { code, type Mrkdwn, mention, mrkdwn } from '../../slack/text/text.ts'
import type { Message } from '../../slack/web-api/messenger.ts'
import type { ReportName } from '../steps.ts'
import { whoIsIn } from './approvers.ts'
import { type EndView, endSentence } from './end-report.ts'
import { timeTaken } from './words.ts'

export interface ReportView extends EndView {
  /** What was unexpected on the account at the write, but did not prevent it. */
  remark: string | undefined
  /** The current rule of the policy for the request, if any. */
  rule: PolicyRule | undefined
  /** The longest time that the change should take, in words: `15 min`. */
  lateAfter: string
  /** In ms since 1970. */
  now: number
}

/** Renders a report for the thread. Undefined if it no longer applies, for example a reminder after the decision. */
export function report(view: ReportView, name: ReportName): Message | undefined {
  if (name === 'reminder-half' || name === 'reminder-last') return reminder(view)
  if (name === 'break-glass') return breakGlassReport(view)
  const words = sentence(view, name)
  return words === undefined ? undefined : say(mrkdwn`${mention(view.request.origin.userId)} ${words}`, reasonOf(view, name))
}

/** Reminds the approvers. */
function reminder({ request, description, rule, now }: ReportView): Message | undefined {
  if (request.state !== 'waiting' || !rule?.approve) return undefined
  const mentioned = whoIsIn(rule.mention ?? approversOf(rule.approve))
  const needed = approvalsNeeded(rule.approve)
  const missing = request.missing ?? needed - request.approvals.length
  const more = request.approvals.length > 0 ? mrkdwn` It has ${needed - missing}, and needs ${missing} more.` : mrkdwn``
  const left = formatDuration(wholeMinutes(request.expiresAt - now))
  const callees = mentioned.text === '' ? mentioned : mrkdwn`${mentioned} `
  const words = mrkdwn`:hourglass_flowing_sand: ${callees}“${description.sentence}” still waits for approval.${more} It expires in ${left}: press *Approve* or *Reject* on the card above.`
  return say(words)
}

/** Rounds up to whole minutes, unless less than two minutes are left. */
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

/** Reports an emergency approval to the channel, in every later state, too. */
function breakGlassReport({ request, description, rule }: ReportView): Message | undefined {
  const { decision, origin } = request
  if (!decision?.breakGlass) return undefined
  const mentioned = rule?.approve ? whoIsIn(rule.mention ?? approversOf(rule.approve)) : mrkdwn``
  const callees = mentioned.text === '' ? mentioned : mrkdwn`${mentioned}: `
  return say(
    mrkdwn`:rotating_light: *Break-glass.* ${callees}${mention(origin.userId)} asked for “${description.sentence}” and approved it alone. Look at it now, and talk about it afterwards.`,
    decision.reason ?? 'none given',
  )
}

function stoppedSentence({ request, description }: ReportView): Mrkdwn | undefined {
  if (request.state !== 'untracked') return undefined
  const who = request.stoppedBy ? mention(request.stoppedBy) : mrkdwn`Somebody`
  return mrkdwn`:large_orange_circle: *No longer tracked:* “${description.sentence}”. ${who} stopped tracking after ${timeTaken(request)}. The account API had accepted it, so it may still finish. *Watch again* above resumes the tracking.`
}

function lateSentence({ request, description, lateAfter, now }: ReportView): Mrkdwn | undefined {
  if (request.state === 'tracking') {
    return mrkdwn`:warning: *Late:* “${description.sentence}” is still ${description.underway} after ${timeTaken(request, now)} (expected within ${lateAfter}). ${lastSeenWords(request)} I keep following it and report its end here. If it matters now, ask the provider's support.`
  }
  if (request.state !== 'starting') return undefined
  return mrkdwn`:warning: *Not known:* “${description.sentence}” was sent ${timeTaken(request, now)} ago, and I could not find out yet whether it took effect. ${lastSeenWords(request)} I keep looking and report it here.`
}

/** Says what the account showed when the change was reported as late. */
function lastSeenWords({ lastSeen }: Request): Mrkdwn {
  if (!lastSeen) return mrkdwn`The last check of the account told nothing about it.`
  const where =
    lastSeen.server === undefined ? mrkdwn`` : lastSeen.server === null ? mrkdwn`, on no server` : mrkdwn`, on ${code(lastSeen.server)}`
  return mrkdwn`The account shows status ${code(lastSeen.status)}${where}.`
}

/** Returns the reason of a rejection, which its report shows. */
function reasonOf({ request: { state, decision } }: ReportView, name: ReportName): string | undefined {
  return name === 'ended' && state === 'rejected' ? decision?.reason : undefined
}

/** `reason`: what a person wrote. */
function say(text: Mrkdwn, reason?: string): Message {
  const inWords = reason ? mrkdwn`${text} Reason: ${code(reason)}` : text
  return message({ text: inWords, blocks: [...wholeSection(text), ...reasonBlocks('Reason', reason)] })
}
