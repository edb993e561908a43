import { approvalsNeeded, approversOf, type PolicyRule } from '../../../domain/policy/policy.ts'
import type { Request } from '../../../domain/request/request.ts'
import { formatDuration } from '../../../domain/text/duration.ts'
import { quotedTitle } from '../../../slack/text/phrase-words.ts'
import { dateTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn } from '../../../slack/text/text.ts'
import { whoIsIn } from '../approvers.ts'
import type { ReportView } from './report-view.ts'

// Messages that call people to act. Each mentions those who can, and nobody else: a mention notifies a phone.

/** Reminds the approvers. Undefined if the request was decided meanwhile. */
export function approversReminder({ request, description, rule, now }: ReportView): Mrkdwn | undefined {
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
export function emergencyCall({ request, description, rule, showActor }: ReportView): Mrkdwn | undefined {
  const { decision, origin } = request
  if (!decision?.breakGlass) return undefined
  const called = rule ? peopleToCall(rule, [origin.userId]) : []
  const callees = called.map((each) => mrkdwn`${each}: `)
  const words = mrkdwn`${showActor(origin.userId, 'The requester')} approved their own request alone: ${quotedTitle(description.title)}. Check it now.`
  return mrkdwn`:rotating_light: *Emergency approval.* ${joinMrkdwn([...callees, words], '')}`
}

/** Mentions the requester of a secret, who has to act after the approval, because the update of the request message notifies nobody. */
export function handoverCall({ request, description, handover, showActor }: ReportView): Mrkdwn | undefined {
  if (request.state !== 'approved' || !handover) return undefined
  return mrkdwn`${mention(request.origin.userId)}, approved by ${joinMrkdwn(
    approvedBy(request).map((by) => showActor(by)),
    ' and ',
  )}: ${quotedTitle(description.title)}. Press *${handover.label}* above by ${dateTime(request.expiresAt)}.`
}

/** Reminds the requester of a secret. Undefined if it was issued, or the request ended. */
export function handoverReminder({ request, description, handover, now }: ReportView): Mrkdwn | undefined {
  if (request.state !== 'approved' || !handover) return undefined
  const left = timeLeft(request.expiresAt - now)
  return mrkdwn`:hourglass_flowing_sand: ${mention(request.origin.userId)}, ${quotedTitle(description.title)} is approved. Press *${handover.label}* above by ${dateTime(request.expiresAt)} (${left} left).`
}

/** Returns the people who approved a request. */
export function approvedBy({ approvals, decision }: Request): string[] {
  return [...new Set(approvals.length > 0 ? approvals.map(({ by }) => by) : [decision?.by ?? ''])]
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
