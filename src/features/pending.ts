import type { App } from '../app.ts'
import type { Origin } from '../domain/approval.ts'
import type { ReasonTerms } from '../domain/policy.ts'
import type { Request } from '../domain/request.ts'
import { phraseText } from '../domain/text.ts'
import { listFeature } from '../kit/list.ts'
import { unreadableRequests } from '../messages/refusals.ts'
import { reasonWords } from '../slack/blocks.ts'
import type { Listing } from '../slack/listing.ts'
import { type Columns, itemRows } from '../slack/table.ts'
import { channelMention, dateTime, link, mention, mrkdwn } from '../slack/text.ts'

interface Pending {
  request: Request
  /** `Move 203.0.113.10: web-1 → web-2` */
  title: string
  isMine: boolean
  canDecide: boolean
  missing: number
  needed: number
  link: string | undefined
  terms: ReasonTerms[] | undefined
}

/** A narrow screen shows the first columns only. What is requested links the request message, so that the link is always in sight. */
const columns: Columns<Pending> = [
  { header: 'Request', cell: ({ title, link: address }) => link(address, title) },
  { header: 'For you', cell: ({ canDecide }) => (canDecide ? 'you can approve it' : undefined), line: 2 },
  { header: 'Expires', cell: ({ request }) => dateTime(request.expiresAt), before: 'until ', line: 2 },
  {
    header: 'Requested by',
    cell: ({ request, isMine }) => (isMine ? mrkdwn`you` : mention(request.origin.userId)),
    before: 'requested by ',
    line: 2,
  },
  { header: 'Channel', cell: ({ request }) => channelMention(request.origin.channelId), before: 'in ', line: 2 },
  { header: 'Approvals', cell: ({ missing, needed }) => (needed > 1 ? `${needed - missing} of ${needed} approvals` : undefined), line: 2 },
  { header: 'Reason', cell: ({ request, terms }) => request.reason && reasonWords(request.reason, terms), before: 'Reason: ', line: 3 },
]

/** The most requests on the list. Each needs the viewer's rights, and Slack limits how often groups can be read. */
const mostShown = 500

export const listPending = listFeature({
  words: 'pending',
  group: 'You',
  summary: 'Requests that need approval, those you can approve first',
  list: (app, { slashCommand: { origin } }) => readPending(app, origin),
})

/** The requests that the viewer can decide first, then the others, each by when they expire. */
async function readPending(app: App, viewer: Origin): Promise<Listing> {
  const { requests, unreadable } = await app.store.findOpen()
  const waiting = requests.filter(({ state, needsApproval }) => state === 'waiting' && needsApproval)
  const pending = await Promise.all(waiting.slice(0, mostShown).map((request) => judge(app, request, viewer)))
  const sorted = pending.toSorted((a, b) => Number(b.canDecide) - Number(a.canDecide) || a.request.expiresAt - b.request.expiresAt)
  const [count, more] = [waiting.length, waiting.length - pending.length]
  const forYou = pending.filter(({ canDecide }) => canDecide).length
  return {
    title: mrkdwn`${count === 1 ? '1 request needs' : `${count} requests need`} approval. You can approve ${forYou === 0 ? 'none' : forYou}${more > 0 ? ' of those shown' : ''}.`,
    ...itemRows(sorted, { columns, mark: ({ canDecide }) => (canDecide ? mrkdwn`:point_right:` : mrkdwn`:hourglass_flowing_sand:`) }),
    empty: unreadable > 0 ? mrkdwn`No requests can be shown.` : mrkdwn`No requests need approval.`,
    notes: [
      ...(more > 0 ? [mrkdwn`Only the ${pending.length} oldest are shown. The other ${more} follow as these end.`] : []),
      ...unreadableRequests(unreadable),
    ],
  }
}

async function judge({ access, catalog, slack }: App, request: Request, viewer: Origin): Promise<Pending> {
  const by = request.approvals.map((approval) => approval.by)
  const [ruling, { missing, needed }] = await Promise.all([
    access.judge(viewer, { to: 'decide', request }),
    access.tally(request, by, 'refusal'),
  ])
  return {
    request,
    title: phraseText(catalog.titleOf(request)),
    isMine: request.origin.userId === viewer.userId,
    canDecide: ruling.allowed && !by.includes(viewer.userId),
    missing,
    needed,
    link: slack.identity.linkTo(request),
    terms: access.ruleOf(request)?.reason,
  }
}
