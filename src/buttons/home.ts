import { setTimeout as delay } from 'node:timers/promises'
import type { Button } from '@slack/web-api'
import type { App } from '../app.ts'
import type { Origin } from '../domain/approval.ts'
import { freezesOnAt } from '../domain/policy.ts'
import { bySchedule, isOpen, type Request } from '../domain/request.ts'
import { hasApproved } from '../life/decide.ts'
import { frozenBlocks } from '../messages/freezes.ts'
import { type HomeContent, type HomeEntry, type HomeSection, homeBlocks, refusedHome } from '../messages/home-view.ts'
import { holdNow, viewOf } from '../outbox/render.ts'
import { freezeSetAt } from '../record/freeze.ts'
import { judge } from '../rights/judge.ts'
import type { Mrkdwn } from '../slack/text.ts'

/** Check rights for at most 100 waiting requests. Take at most 50 of the others in each part, which is more than a Home tab can show. */
const most = { waiting: 100, shown: 50, inPlace: 20 }

/** How many of their last requests people see before they press *Show more*. */
const lastRequests = 5

/** Each tab costs reads of Redis, and Slack takes 100 calls of `views.publish` a minute. */
const publishEveryMs = 1_000

type Published = 'shown' | { refused: string } | { is: 'unreadable'; why: string }

/** `refused`: why the person may not use Lockkeeper. `isNew`: the person opens or refreshes the tab. `isLong`: pressed *Show more*. */
interface Wanted {
  viewer: Origin
  refused?: Mrkdwn
  isNew: boolean
  isLong?: boolean
}

/** A tab that is published as soon as the one before is a second old. */
interface Turn {
  wanted: Wanted
  waits: boolean
  published: Promise<Published>
  /** Ends a second after the tab was published. */
  over: Promise<void>
}

/** What an ability adds to the tab of a person. */
type AddedSection = (app: App, viewer: Origin) => Promise<HomeSection | undefined>

/** Publishes the Home tab of a person: when they open or refresh it, and after what they did. `buttons` open forms. */
export function createHome(app: App, buttons: () => Button[], added: AddedSection[] = []) {
  const turns = new Map<string, Turn>()

  async function open(viewer: Origin, refused?: Mrkdwn): Promise<void> {
    await publishNext({ viewer, refused, isNew: true })
  }

  /** What was decided stays in its place, so that a second click does not press *Approve* of another request. */
  function show(viewer: Origin, isLong = false): Promise<Published> {
    return publishNext({ viewer, isNew: false, isLong })
  }

  /** Publishes at most one tab a person and second in this process. Calls that come meanwhile share the next one, as the last of them wants it. */
  function publishNext(wanted: Wanted): Promise<Published> {
    const { userId } = wanted.viewer
    const last = turns.get(userId)
    if (last?.waits) {
      last.wanted = wanted
      return last.published
    }
    const published = Promise.resolve(last?.over).then(() => {
      turn.waits = false
      return publishHome(app, turn.wanted, { buttons: buttons(), added })
    })
    const over = Promise.allSettled([published])
      .then(() => delay(publishEveryMs, undefined, { ref: false }))
      .then(() => void (turns.get(userId) === turn && turns.delete(userId)))
    const turn: Turn = { wanted, waits: true, published, over }
    turns.set(userId, turn)
    return published
  }

  async function stop(): Promise<void> {
    await Promise.allSettled([...turns.values()].map(({ published }) => published))
  }

  return { open, show, stop }
}
export type Home = ReturnType<typeof createHome>

interface Parts {
  buttons: Button[]
  added: AddedSection[]
}

async function publishHome(app: App, { viewer, refused, ...wanted }: Wanted, parts: Parts): Promise<Published> {
  const blocks = refused ? refusedHome(refused) : homeBlocks(await gather(app, viewer, wanted, parts))
  const published = await app.slack.messenger.publishHome(viewer.userId, blocks)
  if (published.is === 'sent') return 'shown'
  app.errors.of('people')(new Error(`a Home tab could not be shown: ${JSON.stringify(published)}`))
  return published.is === 'refused' ? { refused: published.error } : { is: 'unreadable', why: 'Slack did not answer' }
}

async function gather(
  app: App,
  viewer: Origin,
  { isNew, isLong }: Pick<Wanted, 'isNew' | 'isLong'>,
  { buttons, added }: Parts,
): Promise<HomeContent> {
  const { store } = app
  const freeze = await app.freezes.read()
  const mayLift = freezeSetAt(freeze, await store.now()) !== undefined && (await judge(app, viewer, { to: 'unfreeze' })).allowed
  const isMine = ({ origin }: Request) => origin.userId === viewer.userId
  const [{ requests: open, unreadable }, ended, now, sections] = await Promise.all([
    store.findOpen(),
    store.ended(most.shown, isMine),
    store.now(),
    Promise.all(added.map((section) => section(app, viewer))),
  ])
  const waiting = firstOf(open, ({ state }) => state === 'waiting', most.waiting)
  const isScheduled = (each: Request) => holdNow(app, each) !== undefined
  const scheduled = firstOf(open.filter(isScheduled).toSorted(bySchedule), () => true, most.shown)
  const others = open.filter((each) => !isScheduled(each))
  const mine = firstOf(others, isMine, most.shown)
  const underway = firstOf(others, (each) => !isMine(each) && isOpen(each.state) && each.state !== 'waiting', most.shown)
  // A request that ends during these reads can be in both lists, and Slack refuses a page with two equal block ids.
  const endedBefore = ended.filter(({ id }) => !open.some((each) => each.id === id))
  const toDecide = await allowedTo('decide', waiting.requests)
  const theirs = await Promise.all(toDecide.map((request) => hasApproved(app, request, viewer.userId)))
  const undecided = toDecide.filter((_, index) => !theirs[index])
  const { inPlace, decided } = await inOrder(app, viewer.userId, undecided, isNew)
  const shownEnded = isLong ? endedBefore : endedBefore.slice(0, lastRequests)
  const last = [...open.filter(isMine), ...ended].toSorted((a, b) => b.createdAt - a.createdAt)[0]?.origin.channelId
  const ownWaiting = mine.requests.filter(({ state }) => state === 'waiting')

  async function allowedTo(to: 'decide' | 'break-glass' | 'track', requests: Request[]): Promise<Request[]> {
    const rulings = await Promise.all(requests.map((request) => judge(app, viewer, { to, request })))
    return requests.filter((_, index) => rulings[index]?.allowed)
  }

  const entries = (requests: Request[]): HomeEntry[] =>
    requests.map((request) => ({ card: viewOf(app, request), link: app.slack.identity.linkTo(request) }))

  return {
    frozen: frozenBlocks(freeze, freezesOnAt(app.config.policy, now), now, mayLift),
    waitsForMe: entries(inPlace),
    mine: entries([...mine.requests, ...shownEnded]),
    more: endedBefore.length - shownEnded.length,
    underway: entries(underway.requests),
    scheduled: entries(scheduled.requests),
    sections: sections.flatMap((section) => section ?? []),
    viewerId: viewer.userId,
    command: viewer.command,
    decided,
    approvableAlone: new Set((await allowedTo('break-glass', ownWaiting)).map(({ id }) => id)),
    stoppable: new Set((await allowedTo('track', underway.requests)).map(({ id }) => id)),
    unread: { waiting: waiting.unread, mine: mine.unread, underway: underway.unread, scheduled: scheduled.unread },
    unreadable,
    // The forms begin with the channel of the last request.
    buttons: buttons.map((each) => ({ ...each, value: last ?? each.value })),
    now,
  }
}

function firstOf(open: Request[], fits: (request: Request) => boolean, limit: number) {
  const fitting = open.filter(fits)
  return { requests: fitting.slice(0, limit), unread: Math.max(0, fitting.length - limit) }
}

/** Puts what waits for a person in the order in which it was shown, with what was decided since. `place`: the person, for the tab. */
export async function inOrder({ store }: App, place: string, toDecide: Request[], isNew: boolean) {
  const ids = toDecide.map(({ id }) => id)
  const order = await store.orderOnHome(place, ids.slice(0, most.inPlace), { isNew })
  const decided = await store.findMany(order.filter((id) => !ids.includes(id)))
  const byId = new Map([...toDecide, ...decided].map((request) => [request.id, request]))
  const inPlace = [...new Set([...order, ...ids])].flatMap((id) => byId.get(id) ?? [])
  return { inPlace, decided: new Set(decided.map(({ id }) => id)) }
}
