import { setTimeout as delay } from 'node:timers/promises'
import type { Button } from '@slack/web-api'
import type { Origin } from '../domain/approval.ts'
import { isOpen, type Request } from '../domain/request.ts'
import { type HomeContent, homeBlocks, refusedHome } from '../messages/home-view.ts'
import type { CardView } from '../messages/request-message.ts'
import { refreshHome } from '../messages/words.ts'
import type { Click } from '../slack/interactions.ts'
import type { Mrkdwn } from '../slack/text.ts'
import type { Messenger } from '../slack/web-api.ts'
import type { Access } from './access.ts'
import type { Store } from './store.ts'

/** Check rights for at most 100 waiting requests. Take at most 50 of the others in each part, which is more than a Home tab can show. */
const most = { waiting: 100, shown: 50, ended: 10, inPlace: 20 }

/** Each tab costs reads of Redis, and Slack takes 100 calls of `views.publish` a minute. */
const publishEveryMs = 1_000

type Published = 'shown' | { refused: string } | { unavailable: string }

/** `refused`: why the person may not use Lockkeeper. `isNew`: the person opens or refreshes the tab. */
interface Wanted {
  refused?: Mrkdwn | undefined
  isNew: boolean
}

/** A tab that is published as soon as the one before is a second old. */
interface Turn {
  viewer: Origin
  wanted: Wanted
  waits: boolean
  published: Promise<Published>
  /** Ends a second after the tab was published. */
  over: Promise<void>
}

interface HomeParts {
  store: Pick<Store, 'findOpen' | 'ended' | 'findMany' | 'orderOnHome' | 'now'>
  access: Pick<Access, 'judge'>
  messenger: Pick<Messenger, 'publishHome'>
  /** Returns the buttons that open forms. */
  buttons: () => Button[]
  view: (request: Request) => CardView
  /** Returns the address of a request's card. */
  linkTo: (request: Request) => string | undefined
  onError: (error: unknown) => void
}

/** Creates the Home tab of each person: requests that wait for their decision, their own requests, and changes under way. */
export function createHome({ store, access, messenger, buttons, view, linkTo, onError }: HomeParts) {
  /** The last turn of each person. */
  const turns = new Map<string, Turn>()

  /** Publishes the Home tab that a person opens or refreshes. `refused`: why they may not use Lockkeeper. */
  async function open(viewer: Origin, refused: Mrkdwn | undefined): Promise<void> {
    await publishNext(viewer, { refused, isNew: true })
  }

  /**
   * Publishes the Home tab of a person again. What was decided stays in its place, so that a second click does not press *Approve* of another
   * request.
   */
  function show(viewer: Origin): Promise<Published> {
    return publishNext(viewer, { isNew: false })
  }

  /** Publishes at most one tab a person and second in this process. Calls that come meanwhile share the next one, as the last of them wants it. */
  function publishNext(viewer: Origin, wanted: Wanted): Promise<Published> {
    const { userId } = viewer
    const last = turns.get(userId)
    if (last?.waits) {
      Object.assign(last, { viewer, wanted })
      return last.published
    }
    const published = Promise.resolve(last?.over).then(() => {
      turn.waits = false
      return publish(turn)
    })
    const over = Promise.allSettled([published])
      .then(() => delay(publishEveryMs, undefined, { ref: false }))
      .then(() => void (turns.get(userId) === turn && turns.delete(userId)))
    const turn: Turn = { viewer, wanted, waits: true, published, over }
    turns.set(userId, turn)
    return published
  }

  async function publish({ viewer, wanted: { refused, isNew } }: Turn): Promise<Published> {
    const blocks = refused ? refusedHome(refused) : homeBlocks(await gather(viewer, isNew))
    const published = await messenger.publishHome(viewer.userId, blocks)
    if (published.is === 'sent') return 'shown'
    onError(new Error(`a Home tab could not be shown: ${JSON.stringify(published)}`))
    return published.is === 'refused' ? { refused: published.error } : { unavailable: 'Slack did not answer' }
  }

  async function gather(viewer: Origin, isNew: boolean): Promise<HomeContent> {
    const isMine = ({ origin }: Request) => origin.userId === viewer.userId
    const [{ requests: open, unreadable }, ended, now] = await Promise.all([store.findOpen(), store.ended(most.ended, isMine), store.now()])
    const waiting = firstOf(open, ({ state }) => state === 'waiting', most.waiting)
    const mine = firstOf(open, isMine, most.shown)
    const underway = firstOf(open, (each) => !isMine(each) && isOpen(each.state) && each.state !== 'waiting', most.shown)
    const { entries, unshown } = createEntries()
    // A request that ends during these reads can be in both lists, and Slack refuses a page with two equal block ids.
    const endedBefore = ended.filter(({ id }) => !open.some((each) => each.id === id))
    const rulings = await Promise.all(waiting.requests.map((request) => access.judge(viewer, { to: 'decide', request })))
    const waitsForMe = waiting.requests.filter(
      (request, index) => rulings[index]?.allowed && !request.approvals.some(({ by }) => by === viewer.userId),
    )
    const toDecide = new Map(waitsForMe.map((request) => [request.id, request]))
    const order = await store.orderOnHome(viewer.userId, [...toDecide.keys()].slice(0, most.inPlace), { isNew })
    const decided = await store.findMany(order.filter((id) => !toDecide.has(id)))
    const byId = new Map([...toDecide, ...decided.map((request) => [request.id, request] as const)])
    const inPlace = [...new Set([...order, ...toDecide.keys()])].flatMap((id) => byId.get(id) ?? [])
    const ownWaiting = mine.requests.filter(({ state }) => state === 'waiting')
    const alone = await Promise.all(ownWaiting.map((request) => access.judge(viewer, { to: 'break-glass', request })))
    return {
      approvableAlone: new Set(ownWaiting.filter((_, index) => alone[index]?.allowed).map(({ id }) => id)),
      waitsForMe: entries(inPlace),
      decided: new Set(decided.map(({ id }) => id)),
      mine: entries([...mine.requests, ...endedBefore]),
      underway: entries(underway.requests),
      unread: { waiting: waiting.unread, mine: mine.unread, underway: underway.unread },
      unreadable: unreadable + unshown.size,
      now,
      buttons: buttons(),
    }
  }

  /** Creates the entries of one page. `unshown`: the ids of the requests that cannot be shown. They are left out, so that they cannot hide the others. */
  function createEntries() {
    const unshown = new Set<string>()

    function entries(requests: Request[]) {
      return requests.flatMap((request) => {
        try {
          return [{ card: view(request), link: linkTo(request) }]
        } catch (error) {
          onError(error)
          unshown.add(request.id)
          return []
        }
      })
    }

    return { entries, unshown }
  }

  async function refresh({ origin }: Click): Promise<void> {
    await open(origin, undefined)
  }

  /** Waits for the tabs that are being published. */
  async function stop(): Promise<void> {
    await Promise.allSettled([...turns.values()].map(({ published }) => published))
  }

  return { open, show, clicks: { [refreshHome]: refresh }, stop }
}

export type Home = ReturnType<typeof createHome>

function firstOf(open: Request[], fits: (request: Request) => boolean, limit: number) {
  const fitting = open.filter(fits)
  return { requests: fitting.slice(0, limit), unread: Math.max(0, fitting.length - limit) }
}
