import type { App } from '../app.ts'
import { inOrder } from '../buttons/home.ts'
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
  list: (app, { slashCommand: { origin }, isAgain = false }) => readPending(app, origin, isAgain),
})

/**
 * The requests that the viewer can decide first, then their own that they can press a button of, then the others, each by when they expire. Then what
 * is scheduled or held, the next first. `isAgain`: after a press, which moves no button of another request to where the pointer is.
 */
async function readPending(app: App, viewer: Origin, isAgain: boolean): Promise<Listing> {
  const [{ requests, unreadable }] = await Promise.all([app.store.findOpen(), app.freezes.read()])
  const waiting = requests.filter(({ state, needsApproval }) => state === 'waiting' && needsApproval)
  const pending = await Promise.all(waiting.slice(0, mostShown).map((request) => judged(app, request, viewer)))
  const sorted = pending.toSorted((a, b) => a.request.expiresAt - b.request.expiresAt)
  const forYou = sorted.filter(({ canDecide }) => canDecide).map(({ request }) => request)
  const { inPlace, decided } = await inOrder(app, `${viewer.userId}:pending`, forYou, !isAgain)
  const others = sorted.filter(({ request, canDecide }) => !canDecide && !decided.has(request.id)).map(({ request }) => request)
  const scheduled = requests.filter((each) => holdNow(app, each) && !decided.has(each.id)).toSorted(bySchedule)
  const entryOf = (request: Request) => ({ card: viewOf(app, request), link: app.slack.identity.linkTo(request) })
  const toPress = requests.filter((each) => isOwn(each) && each.state === 'approved' && !holdNow(app, each) && viewOf(app, each).handover)
  const [count, more] = [waiting.length, waiting.length - pending.length]
  const approved = pending.filter(({ approvedBefore }) => approvedBefore).length
  const need = count === 0 ? 'No requests need' : count === 1 ? '1 request needs' : `${count} requests need`
  const can = ` You can approve ${forYou.length === 0 ? 'none' : forYou.length}${more > 0 ? ' of those shown' : ''}`
  const yours = count === 0 ? '' : `${can}${approved > 0 ? `, and approved ${approved} already` : ''}.`
  const also = [
    ...(toPress.length > 0 ? [` Waiting for you: ${toPress.length}.`] : []),
    ...(scheduled.length > 0 ? [` Scheduled or held: ${scheduled.length}.`] : []),
  ]
  const approvableAlone = new Set(pending.flatMap(({ request, isAlone }) => (isAlone ? [request.id] : [])))
  const short = (request: Request) =>
    shortEntry(entryOf(request), isOwn(request) ? 'mine' : 'pending', { approvableAlone, viewerId: viewer.userId })
  return {
    title: mrkdwn`${need} approval.${yours}${also.join('')}`,
    rows: [],
    isOld: decided.size > 0,
    cards: [
      ...inPlace.map((request) => wholeEntry(entryOf(request), viewer.userId, decided)),
      ...[...toPress, ...others, ...scheduled.slice(0, mostShown)].map(short),
    ],
    empty: unreadable > 0 ? mrkdwn`No requests can be shown.` : mrkdwn`No requests need approval, and none are scheduled.`,
    notes: [
      ...(more > 0 ? [mrkdwn`Only the ${pending.length} oldest are shown. The other ${more} follow as these end.`] : []),
      ...unreadableRequests(unreadable),
    ],
  }

  function isOwn({ origin }: Request): boolean {
    return origin.userId === viewer.userId
  }
}

/** `isAlone`: it is the viewer's own, and they may approve it in an emergency. */
async function judged(app: App, request: Request, viewer: Origin) {
  const isMine = request.origin.userId === viewer.userId
  const { allowed } = await judge(app, viewer, { to: isMine ? 'break-glass' : 'decide', request })
  const approvedBefore = await hasApproved(app, request, viewer.userId)
  return { request, canDecide: !isMine && allowed && !approvedBefore, approvedBefore, isAlone: isMine && allowed }
}
