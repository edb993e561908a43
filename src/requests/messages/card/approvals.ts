import type { KnownBlock } from '@slack/web-api'
import { approvalsNeeded, toGroup } from '../../../domain/policy/policy.ts'
import type { Approval, Request } from '../../../domain/request/request.ts'
import { wholeSection } from '../../../slack/blocks/blocks.ts'
import { dateTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn } from '../../../slack/text/text.ts'
import { whoIsIn } from '../approvers.ts'
import type { CardView } from './card-view.ts'

/** Shows how many approvals a waiting request has, and whose. Empty while one approval is enough and none was given. */
export function approvalLines(view: CardView): KnownBlock[] {
  const count = countOf(view)
  if (!count) return []
  const by = view.request.approvals.map(({ by: userId, at }) => mrkdwn`${mention(userId)}, ${dateTime(at)}`)
  const who = by.length > 0 ? mrkdwn`: ${joinMrkdwn(by, '; ')}` : mrkdwn``
  return wholeSection(mrkdwn`:ballot_box_with_check: *${count}*${who}`)
}

/** Says the same without blocks. */
export function approvalsInWords(view: CardView): Mrkdwn[] {
  const count = countOf(view)
  if (count === undefined) return []
  const by = view.request.approvals.map(({ by: userId }) => mention(userId))
  return [by.length > 0 ? mrkdwn`${count}: ${joinMrkdwn(by, ', ')}` : mrkdwn`${count}`]
}

/** `1 of 2 approvals`, as counted at the last approval. People can leave a group after they approved, so not every approval counts. */
function countOf({ request, rule }: CardView): string | undefined {
  if (request.state !== 'waiting' || !request.needsApproval) return undefined
  const needed = rule?.approve ? approvalsNeeded(rule.approve) : 1
  const { approvals, missing } = request
  if (needed === 1 && approvals.length === 0) return undefined
  return `${missing === undefined ? approvals.length : needed - missing} of ${needed} approvals`
}

/** Says who requested and who decided, each with the time. */
export function history({ request }: Pick<CardView, 'request'>, showTime = dateTime): Mrkdwn[] {
  const approvedBy = ({ by, at }: Approval) => mrkdwn`Approved by ${mention(by)}, ${showTime(at)}`
  const requested = mrkdwn`Requested by ${mention(request.origin.userId)}, ${showTime(request.createdAt)}`
  if (request.decidedAt === undefined) return [requested, ...request.approvals.map(approvedBy)]
  const decided = showTime(request.decidedAt)
  if (request.state === 'rejected')
    return [requested, ...request.approvals.map(approvedBy), mrkdwn`Rejected by ${decider(request)}, ${decided}`]
  const areSeveral = request.approvals.length > 1 && request.needsApproval && !request.decision?.breakGlass
  return [requested, ...(areSeveral ? request.approvals.map(approvedBy) : [decisionOf(request, decided)])]
}

function decisionOf({ decision, needsApproval }: Request, decided: Mrkdwn): Mrkdwn {
  if (!needsApproval || decision?.by === undefined) return mrkdwn`No approval needed`
  if (decision.breakGlass)
    return mrkdwn`:rotating_light: *Emergency approval:* approved alone by ${mention(decision.by)}, the requester, ${decided}`
  return mrkdwn`Approved by ${mention(decision.by)}, ${decided}`
}

/** `approved by @Ben and @Chi`, or that no approval was needed. A record that cannot be verified is shown without its decision. */
export function approversOfRequest({ decision, approvals, needsApproval }: Request): Mrkdwn {
  if (!needsApproval) return mrkdwn`no approval needed`
  if (decision?.by === undefined) return mrkdwn`approver not verified`
  const by = approvals.length > 0 ? approvals.map((approval) => approval.by) : [decision.by]
  return mrkdwn`approved by ${whoIsIn(toGroup([...new Set(by)]))}`
}

export function decider(request: Request): Mrkdwn {
  return request.decision?.by ? mention(request.decision.by) : mrkdwn`the rules`
}
