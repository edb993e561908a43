import type { Request } from '../../domain/request.ts'
import type { Listing } from '../../slack/blocks/listing.ts'
import { code, dateTime, joinMrkdwn, link, type Mrkdwn, mention, mrkdwn } from '../../slack/text/text.ts'

export interface Pending {
  request: Request
  /** `Move 203.0.113.10 from web-1 to web-2` */
  sentence: string
  /** Whether the viewer requested it. */
  isMine: boolean
  /** Whether the viewer can decide it. */
  canDecide: boolean
  /** How many approvals are missing. */
  missing: number
  /** How many approvals the rule asks for. */
  needed: number
  /** The address of the request message. */
  link: string | undefined
}

/** Lists the requests that the viewer can decide first, then the others, each by when they expire. `more` requests are left out. */
export function pendingListing(pending: Pending[], more = 0): Listing {
  const sorted = pending.toSorted((a, b) => Number(b.canDecide) - Number(a.canDecide) || a.request.expiresAt - b.request.expiresAt)
  const forYou = pending.filter(({ canDecide }) => canDecide).length
  return {
    title: mrkdwn`${pending.length + more} waiting for approval, ${more > 0 ? 'at least ' : ''}${forYou} of them for you`,
    rows: sorted.map(row),
    empty: mrkdwn`Nothing waits for an approval.`,
    notes: more > 0 ? [mrkdwn`These are the ${pending.length} that have waited longest; ${more} more come up as these are decided.`] : [],
  }
}

function row({ request, sentence, isMine, canDecide, missing, needed, link: address }: Pending): Mrkdwn {
  const mark = canDecide ? ':point_right:' : ':hourglass_flowing_sand:'
  const who = isMine ? mrkdwn`asked for by you` : mrkdwn`asked for by ${mention(request.origin.userId)}`
  const count = needed > 1 ? [mrkdwn`${needed - missing} of ${needed} approvals`] : []
  const parts = [
    who,
    mrkdwn`in <#${request.origin.channelId}>`,
    mrkdwn`until ${dateTime(request.expiresAt)}`,
    ...count,
    ...(canDecide ? [mrkdwn`*you can decide it*`] : []),
    link(address, 'Open the card'),
  ]
  const reason = request.reason ? mrkdwn`\nReason: ${code(request.reason)}` : mrkdwn``
  return mrkdwn`${ownMark(mark)} *${sentence}*\n${joinMrkdwn(parts, '  ·  ')}${reason}`
}

function ownMark(mark: ':point_right:' | ':hourglass_flowing_sand:'): Mrkdwn {
  return mark === ':point_right:' ? mrkdwn`:point_right:` : mrkdwn`:hourglass_flowing_sand:`
}
