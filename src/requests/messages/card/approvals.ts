import type { KnownBlock } from '@slack/web-api'
import { approvalsNeeded } from '../../../domain/policy.ts'
import type { Request } from '../../../domain/request.ts'
import { wholeSection } from '../../../slack/blocks/blocks.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn } from '../../../slack/text/text.ts'
import { shortId } from '../words.ts'
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

/** Says who requested and decided, when, and the short id of the request. */
export function history({ request }: CardView): Mrkdwn {
  const parts = [mrkdwn`Asked for by ${mention(request.origin.userId)}, ${dateTime(request.createdAt)}`]
  const decided = request.decidedAt === undefined ? undefined : dateTime(request.decidedAt)
  if (decided && request.state !== 'rejected') parts.push(...approvalsOf(request, decided))
  if (decided && request.state === 'rejected') parts.push(mrkdwn`Rejected by ${decider(request)}, ${decided}`)
  parts.push(mrkdwn`Request ${code(shortId(request))}`)
  return joinMrkdwn(parts, '  ·  ')
}

function approvalsOf({ decision, approvals, needsApproval }: Request, decided: Mrkdwn): Mrkdwn[] {
  if (!needsApproval || decision?.by === undefined) return [mrkdwn`Needed no approval`]
  if (decision.breakGlass) {
    const why = decision.reason ? mrkdwn` Reason: ${code(decision.reason)}` : mrkdwn``
    return [mrkdwn`:rotating_light: *Break-glass:* approved alone by ${mention(decision.by)}, who asked for it, ${decided}.${why}`]
  }
  if (approvals.length < 2) return [mrkdwn`Approved by ${mention(decision.by)}, ${decided}`]
  return approvals.map(({ by, at }) => mrkdwn`Approved by ${mention(by)}, ${dateTime(at)}`)
}

export function decider(request: Request): Mrkdwn {
  return request.decision?.by ? mention(request.decision.by) : mrkdwn`the rules`
}
