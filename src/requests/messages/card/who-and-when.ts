import { isMachine } from '../../../domain/approval/origin.ts'
import type { Request } from '../../../domain/request/request.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn } from '../../../slack/text/text.ts'
import { relatedWords } from '../related.ts'
import { shortId, timeTakenWords } from '../words.ts'
import { approversOfRequest, decider } from './approvals.ts'
import type { CardView } from './card-view.ts'

/** The states of requests that ended before anything was sent. */
const unsent: readonly string[] = ['rejected', 'withdrawn', 'expired', 'voided']

/** `Requested by @Ada, approved by @Ben  ·  2:13 PM  ·  took 43 s  ·  Request b7e23ec2  ·  Undoes request 80fbcd61` */
export function whoAndWhen({ request, ...related }: Pick<CardView, 'request' | 'undoes' | 'repeats'>): Mrkdwn {
  const took = request.state === 'done' || request.state === 'failed' ? timeTakenWords(request) : undefined
  const parts = [
    who(request),
    when(request),
    ...(took === undefined ? [] : [mrkdwn`${took}`]),
    mrkdwn`Request ${code(shortId(request))}`,
    ...relatedWords(related, { isUnsent: unsent.includes(request.state) }),
  ]
  return joinMrkdwn(parts, '  ·  ')
}

function who(request: Request): Mrkdwn {
  const { state, decision, decidedAt, withdrawnBy } = request
  const requester = mention(request.origin.userId)
  if (state === 'withdrawn') {
    const isOwn = !isMachine(request.origin) && (withdrawnBy ?? request.origin.userId) === request.origin.userId
    const requested = mrkdwn`Requested${isOwn ? ' and withdrawn' : ''} by ${requester}`
    const approved = decidedAt === undefined ? [] : [approversOfRequest(request)]
    const withdrawn = isOwn || withdrawnBy === undefined ? [] : [mrkdwn`withdrawn by ${mention(withdrawnBy)}`]
    return joinMrkdwn([requested, ...approved, ...withdrawn], ', ')
  }
  if (state === 'rejected') return mrkdwn`Requested by ${requester}, rejected by ${decider(request)}`
  if (decision?.breakGlass) return mrkdwn`:rotating_light: *Emergency approval:* requested and approved by ${requester} alone`
  if (decidedAt === undefined) return mrkdwn`Requested by ${requester}`
  return mrkdwn`Requested by ${requester}, ${approversOfRequest(request)}`
}

function when({ state, endedAt, createdAt, expiresAt, decidedAt, stoppedBy }: Request): Mrkdwn {
  if (state === 'expired' && decidedAt === undefined) return mrkdwn`no decision by ${dateTime(expiresAt)}`
  const ended = dateTime(endedAt ?? createdAt)
  return state === 'untracked' && stoppedBy !== undefined ? mrkdwn`stopped by ${mention(stoppedBy)}, ${ended}` : ended
}
