import type { Change } from '../../domain/change/change.ts'
import type { EvacuationFacts, EvacuationInput } from '../../domain/evacuation/evacuation.ts'
import type { Request } from '../../domain/request/request.ts'
import type { Catalog } from '../../requests/catalog.ts'
import type { Store } from '../../requests/store/store.ts'
import type { LastMove } from './offered.ts'

interface FindLastMoveParts {
  store: Pick<Store, 'lastChangesOf'>
  catalog: Pick<Catalog, 'titleOf'>
  change: Pick<Change<EvacuationInput, EvacuationFacts>, 'resource' | 'items'>
  linkTo: (request: Request) => string | undefined
}

/** What is no longer there: addresses that left a server, or all that the server had. */
interface Gone {
  serverId: string
  elasticIpIds: string[]
}

/**
 * Creates the search for the newest change of the addresses that are gone, or of their server if none is known. It only explains why they are
 * gone, so a failure finds nothing.
 */
export function createFindLastMove({ store, catalog, change, linkTo }: FindLastMoveParts) {
  return async function lastMoveOf({ serverId, elasticIpIds }: Gone): Promise<LastMove | undefined> {
    const ofAddress = (elasticIpId: string) => change.items?.change.resource({ elasticIpId, serverId }) ?? []
    const resources = elasticIpIds.length > 0 ? elasticIpIds.flatMap(ofAddress) : [change.resource({ serverId, targetId: '' })]
    const found = await store.lastChangesOf(resources).catch(() => new Map<string, Request>())
    const ended = [...found.values()].flatMap((request) => (request.endedAt === undefined ? [] : [{ request, endedAt: request.endedAt }]))
    const [newest] = ended.toSorted((a, b) => b.endedAt - a.endedAt)
    if (!newest) return undefined
    const { request, endedAt } = newest
    return { id: request.id, title: catalog.titleOf(request), endedAt, link: linkTo(request) }
  }
}
export type FindLastMove = ReturnType<typeof createFindLastMove>
