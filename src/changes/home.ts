import type { Origin } from '../domain/origin.ts'
import { isOpen, type Request } from '../domain/request.ts'
import type { Messenger } from '../slack/messenger.ts'
import type { Mrkdwn } from '../slack/text.ts'
import type { Access } from './access.ts'
import type { CardView } from './card.ts'
import { homeBlocks, refusedHome } from './home-view.ts'
import type { Store } from './store.ts'

/** As many are looked at; what is shown is limited by what a Home tab holds. */
const looked = { open: 500, ended: 50 }

interface HomeParts {
  store: Pick<Store, 'open' | 'ended' | 'now'>
  access: Pick<Access, 'judge'>
  messenger: Pick<Messenger, 'publishHome'>
  view: (request: Request) => CardView
  /** The address of a request's card. */
  linkTo: (request: Request) => string | undefined
  onError: (error: unknown) => void
}

/** The Home tab of each person: what waits for them, what they asked for, and what is moving now, with the buttons of the cards. */
export function createHome({ store, access, messenger, view, linkTo, onError }: HomeParts) {
  /** Answers whether Slack shows it. */
  async function show(viewer: Origin, refused: Mrkdwn | undefined): Promise<'shown' | { refused: string } | { unanswered: string }> {
    const blocks = refused ? refusedHome(refused) : homeBlocks(await gather(viewer))
    const published = await messenger.publishHome(viewer.userId, blocks)
    if (published.is === 'sent') return 'shown'
    onError(new Error(`a Home tab could not be shown: ${JSON.stringify(published)}`))
    return published.is === 'refused' ? { refused: published.error } : { unanswered: 'Slack did not answer' }
  }

  async function gather(viewer: Origin) {
    const [open, ended, now] = await Promise.all([store.open(looked.open), store.ended(looked.ended), store.now()])
    const waiting = open.filter(({ state }) => state === 'waiting')
    const rulings = await Promise.all(waiting.map((request) => access.judge(viewer, { to: 'decide', request })))
    const waitsForMe = waiting.filter(
      (request, index) => rulings[index]?.allowed && !request.approvals.some(({ by }) => by === viewer.userId),
    )
    const mine = [...open, ...ended.slice(0, 20)].filter(({ origin }) => origin.userId === viewer.userId)
    const shown = new Set([...waitsForMe, ...mine].map(({ id }) => id))
    const moving = open.filter(({ id, state }) => !shown.has(id) && isOpen(state) && state !== 'waiting')
    return { waitsForMe: entries(waitsForMe), mine: entries(mine), moving: entries(moving), now }
  }

  /** One that does not fit this version (any more) must not hide the others. */
  function entries(requests: Request[]) {
    return requests.flatMap((request) => {
      try {
        return [{ card: view(request), link: linkTo(request) }]
      } catch (error) {
        onError(error)
        return []
      }
    })
  }

  return { show }
}
export type Home = ReturnType<typeof createHome>
