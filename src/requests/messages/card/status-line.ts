import type { Words } from '../../../domain/finding.ts'
import type { PolicyRule } from '../../../domain/policy.ts'
import type { Request } from '../../../domain/request.ts'
import { capitalised } from '../../../slack/text/capitalised.ts'
import { code, dateTime, type Mrkdwn, mention, mrkdwn } from '../../../slack/text/text.ts'
import { whoApproves, whoIsIn } from '../approvers.ts'
import { stateWords, timeTaken, tookNoTime } from '../words.ts'
import { decider } from './approvals.ts'
import type { CardView } from './card-view.ts'

/** Says the state of a request and what happens next, in one line. */
export function statusLine({ request, description, rule, handoverLabel, ending }: CardView): Mrkdwn {
  const why = endingWords(ending)
  switch (request.state) {
    case 'waiting':
      return request.needsApproval
        ? mrkdwn`:hourglass_flowing_sand: *Waiting for approval* by ${approversInWords(request, rule)}, until ${dateTime(request.expiresAt)}.${attention(rule)}`
        : mrkdwn`:hourglass_flowing_sand: *About to start.* No approval is needed for this here.`
    case 'approved':
      return handoverLabel
        ? mrkdwn`:white_check_mark: *Approved.* ${mention(request.origin.userId)}, press *${handoverLabel}* until ${dateTime(request.expiresAt)}: the token is shown to you alone, and once.`
        : mrkdwn`:white_check_mark: *Approved*, about to start.`
    case 'starting':
      return mrkdwn`:arrow_forward: *Starting*: sent to the account API, which has not confirmed it yet.`
    case 'tracking': {
      const late = request.lateAt === undefined ? mrkdwn`` : mrkdwn` This takes longer than it should; I keep following it.`
      return mrkdwn`:arrows_counterclockwise: *${capitalised(stateWords(request, description.underway))}* since ${dateTime(request.sentAt ?? request.createdAt)}.${late}`
    }
    case 'done':
      return tookNoTime(request) ? mrkdwn`:large_green_circle: *Done.*` : mrkdwn`:large_green_circle: *Done*, in ${timeTaken(request)}.`
    case 'failed':
      return mrkdwn`:red_circle: *Failed.*${why}`
    case 'not-started':
      return mrkdwn`:red_circle: *Not started.*${why}`
    case 'superseded':
      return mrkdwn`:large_orange_circle: *Superseded.*${why}`
    case 'untracked':
      return mrkdwn`:large_orange_circle: *No longer followed*, because ${stopper(request)} stopped it. The account API had accepted it, so it may still complete; I do not tell when.`
    case 'voided':
      return mrkdwn`:large_orange_circle: *Void: nothing was done.*${why}`
    case 'rejected':
      return mrkdwn`:no_entry: *Rejected* by ${decider(request)}.${request.decision?.reason ? mrkdwn` Reason: ${code(request.decision.reason)}` : mrkdwn``}`
    case 'withdrawn':
      return mrkdwn`:leftwards_arrow_with_hook: *Withdrawn* by ${mention(request.origin.userId)}.`
    case 'expired':
      return ending.why
        ? mrkdwn`:alarm_clock: *Expired.*${why} Nothing was done.`
        : mrkdwn`:alarm_clock: *Expired*: nobody decided in time, and nothing was done.`
    case 'unknown':
      return mrkdwn`:grey_question: *${capitalised(stateWords(request))}.*`
  }
}

/** Says why the request ended, and what to do next if it is not to request the change again. */
function endingWords({ why, next }: Words): Mrkdwn {
  return mrkdwn`${why && ` ${why}`}${next === undefined ? '' : ` ${next}`}`
}

function approversInWords(request: Request, rule: PolicyRule | undefined): Mrkdwn {
  if (request.approverNames !== undefined) return mrkdwn`${request.approverNames}`
  return rule?.approve ? whoApproves(rule.approve) : mrkdwn`nobody: no rule of the policy covers it any more`
}

/** Mentions the people that a rule names besides the approvers. */
function attention(rule: PolicyRule | undefined): Mrkdwn {
  const mentioned = rule?.mention ? whoIsIn(rule.mention) : mrkdwn``
  return mentioned.text === '' ? mentioned : mrkdwn` For the attention of ${mentioned}.`
}

function stopper(request: Request): Mrkdwn {
  return request.stoppedBy ? mention(request.stoppedBy) : mrkdwn`somebody`
}
