import { type AlertRoute, routeFor } from '../../domain/policy/alert-route.ts'
import { unlessAborted } from '../../domain/within.ts'
import type { Proposed } from '../alert-states.ts'
import { untilFree } from '../claiming.ts'
import { problemWords } from '../messages/messages.ts'
import { TryLater } from '../outcome.ts'
import type { Alert } from '../payload/payload.ts'
import { unevaluatedRule } from '../payload/unevaluated.ts'
import type { FindAlerted } from './find-servers.ts'
import type { ClaimedFiring, TakenFiring } from './firing.ts'
import type { IsProposal } from './is-proposal.ts'
import { createPropose, type ProposeParts } from './propose.ts'
import { createRefuseFiring, type RefuseFiringParts } from './refuse-firing.ts'
import { createRequestEvacuation, type RequestEvacuationParts } from './request-evacuation.ts'

/** How often what Redis says of an alert is found to be wrong, before the sender has to repeat it. */
const mostTries = 3

/** Redis says that the alert led to this request, and it did not. */
interface ForgedProposal {
  is: 'forged'
  proposed: Proposed
}

interface TakeFiringParts extends RefuseFiringParts, RequestEvacuationParts, Omit<ProposeParts, 'requestEvacuation' | 'refuseFiring'> {
  routes: AlertRoute[]
  findAlerted: FindAlerted
  isProposal: IsProposal
  /** Receives a request that no alert about that server led to, although Redis said so. */
  onForged: (proposed: Proposed) => Promise<void> | void
}

/**
 * Creates the function that proposes an evacuation for a firing alert, or says in the channel why it does not. It is safe to repeat, also in
 * another process. Throws TryLater, StoreUnavailableError, and the errors of the account API; the sender then repeats the alert.
 */
export function createTakeFiring(parts: TakeFiringParts) {
  const { routes, states, findAlerted, isProposal, onForged, waitMs } = parts
  const refuseFiring = createRefuseFiring(parts)
  const propose = createPropose({ ...parts, refuseFiring, requestEvacuation: createRequestEvacuation(parts) })

  async function takeFiring(alert: Alert, signal: AbortSignal): Promise<TakenFiring> {
    const route = routeFor(routes, alert.labels)
    if (!route) return { is: 'unmatched' }
    for (let attempt = 0; attempt < mostTries; attempt += 1) {
      const taken = await tryFiring(alert, route, signal)
      if (taken.is !== 'forged') return taken
      await onForged(taken.proposed)
      await states.forget(alert.key, taken.proposed)
    }
    throw new TryLater('no alert led to the request that stands for it')
  }

  async function tryFiring(alert: Alert, route: AlertRoute, signal: AbortSignal): Promise<TakenFiring | ForgedProposal> {
    const claimed = await untilFree(() => states.claim(alert.key, alert), { waitMs, signal })
    if (claimed.is === 'done' && claimed.proposed) return duplicateOf(claimed.proposed)
    if (claimed.is !== 'claimed') return { is: 'duplicate' }
    try {
      return await takeClaimed({ alert, route, claim: claimed.claim }, signal)
    } catch (error) {
      await states.free(claimed.claim).catch(() => undefined)
      throw error
    }
  }

  async function takeClaimed(firing: ClaimedFiring, signal: AbortSignal): Promise<TakenFiring | ForgedProposal> {
    const { alert, route } = firing
    // A stop does not wait for the account API: the claims end, and the next process goes on at once. Tries of one episode make one request.
    const found = unevaluatedRule(route, alert.labels) ?? (await unlessAborted(signal, findAlerted(route, alert.labels)))
    if (found.is !== 'found') {
      const named =
        'server' in found ? ({ server: found.server, reason: 'target' } as const) : ({ server: undefined, reason: 'server' } as const)
      return refuseFiring(firing, { words: problemWords(found), ...named })
    }
    const proposed = await propose(firing, found, signal)
    return proposed.is === 'joined' ? duplicateOf(proposed.proposed) : proposed
  }

  /** An alert is only hidden by a request that an alert about its server led to. */
  async function duplicateOf(proposed: Proposed): Promise<TakenFiring | ForgedProposal> {
    return (await isProposal(proposed.requestId, proposed.serverId)) ? { is: 'duplicate' } : { is: 'forged', proposed }
  }

  return takeFiring
}
export type TakeFiring = ReturnType<typeof createTakeFiring>
