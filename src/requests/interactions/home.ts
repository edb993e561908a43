import type { Button, KnownBlock } from '@slack/web-api'
import type { Origin } from '../../domain/approval/origin.ts'
import { isOpen, type Outline, type Request } from '../../domain/request/request.ts'
import type { Click } from '../../slack/commands/handlers.ts'
import type { Mrkdwn } from '../../slack/text/text.ts'
import type { Messenger } from '../../slack/web-api/messenger.ts'
import type { Access } from '../access/access.ts'
import { refreshHome } from '../messages/buttons.ts'
import type { CardView } from '../messages/card/card-view.ts'
import { type HomeContent, homeBlocks, refusedHome } from '../messages/home-view.ts'
import type { Store } from '../store/store.ts'
import { createHomeWatch } from './home-watch.ts'

/** Check rights for at most 500 waiting requests. Load at most 100 of the others, which is more than a Home tab can show. */
const most = { waiting: 500, shown: 100, ended: 20, inPlace: 20 }

interface HomeParts {
  store: Pick<Store, 'open' | 'ended' | 'countEnded' | 'findMany' | 'orderOnHome' | 'now'>
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
  const watch = createHomeWatch({ findMany: store.findMany, publish: publishAgain, onError })

  /** Publishes the Home tab that a person opens or refreshes. `refused`: why they may not use Lockkeeper. */
  async function open(viewer: Origin, refused: Mrkdwn | undefined): Promise<void> {
    if (!refused) return void (await show(viewer, { isNew: true }))
    await publish(viewer, refusedHome(refused))
    watch.watch(viewer, undefined)
  }

  /**
   * Publishes the Home tab of a person again. What was decided stays in its place, so that a second click does not press *Approve* of another
   * request.
   */
  async function show(viewer: Origin, { isNew } = { isNew: false }): Promise<'shown' | { refused: string } | { unavailable: string }> {
    const content = await gather(viewer, isNew)
    const published = await publish(viewer, homeBlocks(content))
    watch.watch(viewer, published === 'shown' ? openOn(content) : undefined)
    return published
  }

  /** Publishes a tab that a person opened earlier. Nobody has done anything now, so a refusal is not noted, and the tab stays as it is. */
  async function publishAgain(viewer: Origin): Promise<Request[] | undefined> {
    if (!(await access.judge(viewer, { to: 'read' })).allowed) return undefined
    const content = await gather(viewer, false)
    return (await publish(viewer, homeBlocks(content))) === 'shown' ? openOn(content) : undefined
  }

  async function publish(viewer: Origin, blocks: KnownBlock[]) {
    const published = await messenger.publishHome(viewer.userId, blocks)
    if (published.is === 'sent') return 'shown'
    onError(new Error(`a Home tab could not be shown: ${JSON.stringify(published)}`))
    return published.is === 'refused' ? { refused: published.error } : { unavailable: 'Slack did not answer' }
  }

  async function gather(viewer: Origin, isNew: boolean): Promise<HomeContent> {
    const isMine = ({ origin }: Outline) => origin.userId === viewer.userId
    const reads = [store.open(), store.ended(most.ended, isMine), store.countEnded(isMine), store.now()] as const
    const [open, ended, endedCount, now] = await Promise.all(reads)
    const { read, entries, unreadable } = createReading()
    const waiting = await read(open, ({ state }) => state === 'waiting', most.waiting)
    const mine = await read(open, isMine, most.shown)
    const underway = await read(open, (each) => !isMine(each) && isOpen(each.state) && each.state !== 'waiting', most.shown)
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
      unread: { waiting: waiting.unread, mine: mine.unread + endedCount - ended.length, underway: underway.unread },
      unreadable: unreadable(),
      now,
      buttons: buttons(),
    }
  }

  /** Creates the reads of one page. They count the requests that cannot be read or shown. */
  function createReading() {
    const lost = new Set<string>()

    /** Reads the first requests that fit. Leaves out those that no longer fit when they are read. */
    async function read(open: Outline[], fits: (outline: Outline) => boolean, limit: number) {
      const fitting = open.filter(fits)
      const chosen = fitting.slice(0, limit).map(({ id }) => id)
      const requests = await store.findMany(chosen)
      const found = new Set(requests.map(({ id }) => id))
      for (const id of chosen) if (!found.has(id)) lost.add(id)
      return { requests: requests.filter(fits), unread: fitting.length - chosen.length }
    }

    /** Skips a request that cannot be shown, so that it cannot hide the others. */
    function entries(requests: Request[]) {
      return requests.flatMap((request) => {
        try {
          return [{ card: view(request), link: linkTo(request) }]
        } catch (error) {
          onError(error)
          lost.add(request.id)
          return []
        }
      })
    }

    return { read, entries, unreadable: () => lost.size }
  }

  async function refresh({ origin }: Click): Promise<void> {
    await open(origin, undefined)
  }

  return { open, show, outdate: watch.outdate, clicks: { [refreshHome]: refresh }, stop: watch.stop }
}

/** Returns the requests on a page that can still change, those first that the viewer can decide. */
function openOn({ waitsForMe, underway, mine }: HomeContent): Request[] {
  return [...waitsForMe, ...underway, ...mine].map(({ card }) => card.request).filter(({ state }) => isOpen(state))
}

export type Home = ReturnType<typeof createHome>
