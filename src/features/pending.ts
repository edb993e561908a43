import type { App } from '../app.ts'
import { inOrder } from '../buttons/home.ts'
import type { Origin } from '../domain/approval.ts'
import { bySchedule, isHeld, type Request } from '../domain/request.ts'
import { listFeature } from '../kit/list.ts'
import { hasApproved } from '../life/decide.ts'
import { shortEntry, wholeEntry } from '../messages/home-view.ts'
import { unreadableRequests } from '../messages/why-not.ts'
import { holdNow, viewOf } from '../outbox/render.ts'
import { ableToConfirm } from '../rights/confirmation.ts'
import { judge, ruleOf } from '../rights/judge.ts'
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
 * What the viewer can decide first, and stays there until a refresh, then their own approved keys, then the others, each by when they expire. Then
 * what is scheduled or held, the next first. `isAgain`: after a press.
 */
async function readPending(app: App, viewer: Origin, isAgain: boolean): Promise<Listing> {
  const [{ requests, unreadable }] = await Promise.all([app.store.findOpen(), app.freezes.read()])
  const waiting = requests.filter(({ state, needsApproval }) => state === 'waiting' && needsApproval)
  const pending = await Promise.all(waiting.slice(0, mostShown).map((request) => judged(app, request, viewer)))
  const sorted = pending.toSorted((a, b) => a.request.expiresAt - b.request.expiresAt)
  const forYou = sorted.flatMap(({ request, canDecide }) => (canDecide ? request : []))
  const { inPlace, decided } = await inOrder(app, `${viewer.userId}:pending`, forYou, !isAgain)
  const isBelow = (each: Request) => !forYou.includes(each) && !decided.has(each.id)
  const isMine = ({ origin }: Request) => origin.userId === viewer.userId
  const toPress = requests.filter((each) => isMine(each) && each.state === 'approved' && viewOf(app, each).handover && !holdNow(app, each))
  // The account may hold one, too: it is away, or its limit is used up.
  const isUnsent = (each: Request) =>
    holdNow(app, each) || (each.state === 'approved' && each.waits && !isHeld(each) && !viewOf(app, each).handover)
  const scheduled = requests.filter((each) => isUnsent(each) && isBelow(each)).toSorted(bySchedule)
  const [count, more] = [waiting.length, waiting.length - pending.length]
  const approved = pending.filter(({ approvedBefore }) => approvedBefore).length
  const need = count === 0 ? 'No requests need' : count === 1 ? '1 request needs' : `${count} requests need`
  const lacking = await needingMore(app, forYou, viewer.userId)
  const able = forYou.length - lacking.length
  const lack = lacking[0] ? `, and ${lacking.length} once you have a ${ruleOf(app, lacking[0])?.confirmBy}` : ''
  const approvableAlone = new Set(pending.flatMap(({ request, isAlone }) => (isAlone ? [request.id] : [])))
  const alone = approvableAlone.size > 0 ? `, and ${approvableAlone.size} of your own in an emergency` : ''
  const can = `You can approve ${able === 0 ? 'none' : able}${more > 0 ? ' of those shown' : ''}${lack}${alone}`
  const parts = [
    `${need} approval.`,
    ...(count > 0 ? [`${can}${approved > 0 ? `, and approved ${approved} already` : ''}.`] : []),
    ...(toPress.length > 0 ? [`Waiting for you: ${toPress.length}.`] : []),
    ...(scheduled.length > 0 ? [`Scheduled or held: ${scheduled.length}.`] : []),
  ]
  const entryOf = (request: Request) => ({ card: viewOf(app, request), link: app.slack.identity.linkTo(request) })
  const below = [...toPress, ...sorted.map(({ request }) => request).filter(isBelow), ...scheduled.slice(0, mostShown)]
  return {
    title: mrkdwn`${parts.join(' ')}`,
    rows: [],
    isOld: decided.size > 0,
    cards: [
      ...inPlace.map((each) => wholeEntry(entryOf(each), viewer.userId, decided)),
      ...below.map((each) => shortEntry(entryOf(each), isMine(each) ? 'mine' : 'pending', { approvableAlone, viewerId: viewer.userId })),
    ],
    empty: unreadable > 0 ? mrkdwn`No requests can be shown.` : mrkdwn`No requests need approval, and none are scheduled.`,
    notes: [
      ...(more > 0 ? [mrkdwn`Only the ${pending.length} oldest are shown. The other ${more} follow as these end.`] : []),
      ...unreadableRequests(unreadable),
    ],
  }
}

/** Those that a person who may approve them cannot approve yet, because their rules ask for more than a click. */
async function needingMore(app: App, requests: Request[], userId: string): Promise<Request[]> {
  const asking = requests.filter((request) => ruleOf(app, request)?.confirmBy !== undefined)
  const rule = asking[0] && ruleOf(app, asking[0])
  return rule && !(await ableToConfirm(app, rule, [userId])).has(userId) ? asking : []
}

/** `isAlone`: it is the viewer's own, and they may approve it in an emergency. */
async function judged(app: App, request: Request, viewer: Origin) {
  const isMine = request.origin.userId === viewer.userId
  const { allowed } = await judge(app, viewer, { to: isMine ? 'break-glass' : 'decide', request })
  const approvedBefore = await hasApproved(app, request, viewer.userId)
  return { request, canDecide: !isMine && allowed && !approvedBefore, approvedBefore, isAlone: isMine && allowed }
}
