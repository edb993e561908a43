import type { Request } from '../../domain/request/request.ts'
import { phraseText } from '../../domain/text/phrase.ts'
import type { Catalog } from '../../requests/catalog.ts'
import type { Store } from '../../requests/store/store.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { type ListedMove, moveListing } from './messages.ts'

/** The most moves in flight, and the most waiting moves, on the list. People do not read more pages. */
const mostOpen = 500
const mostEnded = 10

interface ListMovesParts {
  store: Pick<Store, 'findOpen' | 'ended' | 'now'>
  catalog: Catalog
  /** Returns the address of the request message. */
  linkTo: (request: Request) => string | undefined
}

/** `/infra moves`: lists the moves in flight, those that wait for approval, and the last that ended. */
export const listMoves = { create } satisfies FeatureDefinition

function create({ store, catalog, linkTo }: ListMovesParts): Feature {
  const takesTime = ({ kind }: Pick<Request, 'kind'>) => catalog.changeIfKnown(kind)?.takesTime ?? false

  function describe(request: Request): ListedMove | undefined {
    const opened = catalog.openIfFit(request)
    if (!opened) return undefined
    const { title, underway } = opened.change.describe(opened.latest)
    return { request, title: phraseText(title), underway, link: linkTo(request) }
  }

  return {
    commands: [
      {
        words: 'moves',
        usage: '',
        group: 'View',
        summary: 'Moves in progress, and the latest that ended',
        examples: [],
        need: 'read',
        run: async (call) => {
          const [open, ended, now] = await Promise.all([store.findOpen(), store.ended(mostEnded, takesTime), store.now()])
          const moves = open.requests.filter(takesTime)
          const waiting = moves.filter(({ state }) => state === 'waiting')
          const inFlight = moves.filter(({ state }) => state !== 'waiting')
          const listed = [...inFlight.slice(0, mostOpen), ...waiting.slice(0, mostOpen)]
          // A move that ended between the reads is in both results.
          const requests = [...listed, ...ended.filter(({ id }) => !listed.some((each) => each.id === id))]
          const described = requests.flatMap((request) => describe(request) ?? [])
          const unlisted = {
            inFlight: Math.max(0, inFlight.length - mostOpen),
            waiting: Math.max(0, waiting.length - mostOpen),
            unreadable: open.unreadable + requests.length - described.length,
          }
          await call.list(moveListing(described, unlisted, now))
        },
      },
    ],
  }
}
