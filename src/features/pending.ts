import type { App } from '../app.ts'
import type { Origin } from '../domain/approval.ts'
import { bySchedule, holdOf, type Request } from '../domain/request.ts'
import { phraseText } from '../domain/text.ts'
import { listFeature } from '../kit/list.ts'
import { scheduleWords } from '../messages/request-words.ts'
import { unreadableRequests } from '../messages/why-not.ts'
import { judge, tally } from '../rights/judge.ts'
import type { Listing } from '../slack/listing.ts'
import { type Columns, itemRows } from '../slack/table.ts'
import { channelMention, code, dateTime, link, mention, mrkdwn } from '../slack/text.ts'

interface Pending {
  request: Request
  /** `Move 203.0.113.10: web-1 → web-2` */
  title: string
  isMine: boolean
  canDecide: boolean
  missing: number
  needed: number
  link: string | undefined
}

/** A narrow screen shows the first columns only. What is requested links the request message, so that the link is always in sight. */
const columns: Columns<Pending> = [
  { header: 'Request', cell: ({ title, link: address }) => link(address, title) },
  { header: 'You can approve', cell: ({ canDecide }) => (canDecide ? 'yes' : undefined) },
  { header: 'Schedule', cell: ({ request }) => scheduleWords(request) },
  { header: 'Expires', cell: ({ request }) => (holdOf(request) ? undefined : dateTime(request.expiresAt)) },
  { header: 'Requested by', cell: ({ request, isMine }) => (isMine ? 'you' : mention(request.origin.userId)) },
  { header: 'Channel', cell: ({ request }) => channelMention(request.origin.channelId) },
  { header: 'Approvals', cell: ({ missing, needed }) => (needed > 1 ? `${needed - missing} of ${needed}` : undefined) },
  { header: 'Reason', cell: ({ request }) => request.reason && code(request.reason) },
]

/** The most requests on the list. Each needs the viewer's rights, and Slack limits how often groups can be read. */
const mostShown = 500

export const listPending = listFeature({
  words: 'pending',
  group: 'You',
  summary: 'Requests that need approval, those you can approve first, and what is scheduled',
  list: (app, { slashCommand: { origin } }) => readPending(app, origin),
})

/** The requests that the viewer can decide first, then the others, each by when they expire. Then what is scheduled or held, the next first. */
async function readPending(app: App, viewer: Origin): Promise<Listing> {
  const { requests, unreadable } = await app.store.findOpen()
  const waiting = requests.filter(({ state, needsApproval }) => state === 'waiting' && needsApproval)
  const pending = await Promise.all(waiting.slice(0, mostShown).map((request) => judged(app, request, viewer)))
  const sorted = pending.toSorted((a, b) => Number(b.canDecide) - Number(a.canDecide) || a.request.expiresAt - b.request.expiresAt)
  const scheduled = requests.filter(holdOf).toSorted(bySchedule)
  const [count, more] = [waiting.length, waiting.length - pending.length]
  const forYou = pending.filter(({ canDecide }) => canDecide).length
  const need = count === 0 ? 'No requests need' : count === 1 ? '1 request needs' : `${count} requests need`
  const yours = count === 0 ? '' : ` You can approve ${forYou === 0 ? 'none' : forYou}${more > 0 ? ' of those shown' : ''}.`
  return {
    title: mrkdwn`${need} approval.${yours}${scheduled.length === 0 ? '' : ` Scheduled or held: ${scheduled.length}.`}`,
    ...itemRows([...sorted, ...scheduled.slice(0, mostShown).map((request) => asPending(app, request, viewer))], { columns }),
    empty: unreadable > 0 ? mrkdwn`No requests can be shown.` : mrkdwn`No requests need approval, and none are scheduled.`,
    notes: [
      ...(more > 0 ? [mrkdwn`Only the ${pending.length} oldest are shown. The other ${more} follow as these end.`] : []),
      ...unreadableRequests(unreadable),
    ],
  }
}

async function judged(app: App, request: Request, viewer: Origin): Promise<Pending> {
  const by = request.approvals.map((approval) => approval.by)
  const [ruling, { missing, needed }] = await Promise.all([
    judge(app, viewer, { to: 'decide', request }),
    tally(app, request, by, 'refusal'),
  ])
  return { ...asPending(app, request, viewer), canDecide: ruling.allowed && !by.includes(viewer.userId), missing, needed }
}

/** As it is shown to people who have nothing to decide about it. */
function asPending({ catalog, slack }: App, request: Request, viewer: Origin): Pending {
  return {
    request,
    title: phraseText(catalog.titleOf(request)),
    isMine: request.origin.userId === viewer.userId,
    canDecide: false,
    missing: 0,
    needed: 0,
    link: slack.identity.linkTo(request),
  }
}
