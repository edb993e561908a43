import type { Store } from '../../requests/store/store.ts'
import type { AlertStates, Proposed } from '../alert-states.ts'
import { untilFree } from '../claiming.ts'
import { requestIdOf } from '../episode.ts'
import { TryLater } from '../outcome.ts'
import type { Slots } from '../slots.ts'
import type { EvacuationServers } from './find-servers.ts'
import type { ClaimedFiring, TakenFiring } from './firing.ts'
import { type RefuseFiring, stormOf } from './refuse-firing.ts'
import type { RequestEvacuation } from './request-evacuation.ts'

export interface ProposeParts {
  states: AlertStates
  slots: Slots
  store: Pick<Store, 'find'>
  requestEvacuation: RequestEvacuation
  refuseFiring: RefuseFiring
  waitMs?: number | undefined
}

/** Redis says that another alert about the same server led to this request. */
interface Joined {
  is: 'joined'
  proposed: Proposed
}

/** Creates the function that claims the server of an alert, and requests its evacuation: one request for all alerts about the server. */
export function createPropose({ states, slots, store, requestEvacuation, refuseFiring, waitMs }: ProposeParts) {
  return async function propose(firing: ClaimedFiring, servers: EvacuationServers, signal: AbortSignal): Promise<TakenFiring | Joined> {
    const { claim, route } = firing
    const { server } = servers
    const claimed = await untilFree(() => states.claimServer(claim, server.id), { waitMs, signal })
    if (claimed.is === 'joined') return { is: 'joined', proposed: { requestId: claimed.requestId, serverId: server.id } }
    if (claimed.is === 'lost') throw new TryLater('the claim of the alert ran out')
    const { episode } = claimed
    try {
      const requestId = requestIdOf(episode)
      // An earlier try may have died after it made the request. The account may have changed since.
      if (!(await store.find(requestId))) {
        if (!(await slots.take('proposals', route.channelId, episode))) return stormOf(firing, server)
        const refused = await requestEvacuation(firing, servers, episode, signal)
        if (refused) {
          await slots.giveBack('proposals', route.channelId, episode)
          return await refuseFiring(firing, { ...refused, server, serverId: server.id })
        }
      }
      await states.settle(claim, { outcome: 'proposed', value: requestId, serverId: server.id })
      return { is: 'proposed' }
    } catch (error) {
      await states.free(claim, server.id).catch(() => undefined)
      throw error
    }
  }
}
