import { isMachine } from '../../../domain/approval/origin.ts'
import type { Request } from '../../../domain/request/request.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn } from '../../../slack/text/text.ts'
import { shortId, timeTakenWords } from '../words.ts'
import { approversOfRequest, decider } from './approvals.ts'

/** `Requested by @Ada, approved by @Ben  ·  2:13 PM  ·  took 43 s  ·  Request b7e23ec2` */
export function whoAndWhen(request: Request): Mrkdwn {
  const took = request.state === 'done' || request.state === 'failed' ? timeTakenWords(request) : undefined
  const parts = [who(request), when(request), ...(took === undefined ? [] : [mrkdwn`${took}`]), mrkdwn`Request ${code(shortId(request))}`]
  return joinMrkdwn(parts, '  ·  ')
}

function who(request: Request): Mrkdwn {
  const { state, decision, decidedAt } = request
  const requester = mention(request.origin.userId)
  if (state === 'withdrawn') {
    const requested = mrkdwn`Requested${isMachine(request.origin) ? '' : ' and withdrawn'} by ${requester}`
    return decidedAt === undefined ? requested : mrkdwn`${requested}, ${approversOfRequest(request)}`
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
