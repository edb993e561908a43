import type { App } from '../app.ts'
import type { Origin } from '../domain/approval.ts'
import { bySchedule, type Request } from '../domain/request.ts'
import { listFeature } from '../kit/list.ts'
import { hasApproved } from '../life/decide.ts'
import { shortEntry, wholeEntry } from '../messages/home-view.ts'
import { unreadableRequests } from '../messages/why-not.ts'
import { holdNow, viewOf } from '../outbox/render.ts'
import { judge } from '../rights/judge.ts'
import type { Listing } from '../slack/listing.ts'
import { mrkdwn } from '../slack/text.ts'

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
  const [{ requests, unreadable }] = await Promise.all([app.store.findOpen(), app.freezes.read()])
  const waiting = requests.filter(({ state, needsApproval }) => state === 'waiting' && needsApproval)
  const pending = await Promise.all(waiting.slice(0, mostShown).map((request) => judged(app, request, viewer)))
  const sorted = pending.toSorted((a, b) => Number(b.canDecide) - Number(a.canDecide) || a.request.expiresAt - b.request.expiresAt)
  const scheduled = requests.filter((each) => holdNow(app, each)).toSorted(bySchedule)
  const [count, more] = [waiting.length, waiting.length - pending.length]
  const forYou = pending.filter(({ canDecide }) => canDecide).length
  const need = count === 0 ? 'No requests need' : count === 1 ? '1 request needs' : `${count} requests need`
  const yours = count === 0 ? '' : ` You can approve ${forYou === 0 ? 'none' : forYou}${more > 0 ? ' of those shown' : ''}.`
  const approvableAlone = new Set(pending.flatMap(({ request, isAlone }) => (isAlone ? [request.id] : [])))
  const entryOf = (request: Request) => ({ card: viewOf(app, request), link: app.slack.identity.linkTo(request) })
  const partOf = ({ origin }: Request) => (origin.userId === viewer.userId ? 'mine' : 'pending')
  const short = (request: Request) => shortEntry(entryOf(request), partOf(request), { approvableAlone, viewerId: viewer.userId })
  return {
    title: mrkdwn`${need} approval.${yours}${scheduled.length === 0 ? '' : ` Scheduled or held: ${scheduled.length}.`}`,
    rows: [],
    cards: [
      ...sorted.map(({ request, canDecide }) => (canDecide ? wholeEntry(entryOf(request), viewer.userId) : short(request))),
      ...scheduled.slice(0, mostShown).map(short),
    ],
    empty: unreadable > 0 ? mrkdwn`No requests can be shown.` : mrkdwn`No requests need approval, and none are scheduled.`,
    notes: [
      ...(more > 0 ? [mrkdwn`Only the ${pending.length} oldest are shown. The other ${more} follow as these end.`] : []),
      ...unreadableRequests(unreadable),
    ],
  }
}

/** `isAlone`: it is the viewer's own, and they may approve it in an emergency. */
async function judged(app: App, request: Request, viewer: Origin) {
  const isMine = request.origin.userId === viewer.userId
  const { allowed } = await judge(app, viewer, { to: isMine ? 'break-glass' : 'decide', request })
  const canDecide = !isMine && allowed && !(await hasApproved(app, request, viewer.userId))
  return { request, canDecide, isAlone: isMine && allowed }
}
