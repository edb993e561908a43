import type { Change } from '../../domain/change/change.ts'
import type { EvacuationFacts, EvacuationInput } from '../../domain/evacuation/evacuation.ts'
import type { Request } from '../../domain/request/request.ts'
import type { Store } from '../../requests/store/store.ts'
import type { LastEvacuation } from './addresses.ts'

interface FindLastEvacuationParts {
  store: Pick<Store, 'lastChangesOf'>
  change: Pick<Change<EvacuationInput, EvacuationFacts>, 'kind' | 'resource' | 'facts'>
  linkTo: (request: Request) => string | undefined
}

/** Creates the search for the last evacuation of a server. It only explains why the server is empty, so a failure finds nothing. */
export function createFindLastEvacuation({ store, change, linkTo }: FindLastEvacuationParts) {
  return async function lastEvacuationOf(serverId: string): Promise<LastEvacuation | undefined> {
    const [request] = await store.lastChangesOf([change.resource({ serverId, targetId: '' })]).catch(() => [])
    const facts = request?.kind === change.kind ? change.facts.safeParse(request.facts) : undefined
    if (!request || request.endedAt === undefined || !facts?.success) return undefined
    return { requestId: request.id, to: facts.data.to.name, endedAt: request.endedAt, link: linkTo(request) }
  }
}
