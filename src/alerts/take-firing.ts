import { isForLackOfAnswer } from '../domain/approval/denial.ts'
import { alertsRequester } from '../domain/approval/origin.ts'
import type { Change } from '../domain/change/change.ts'
import { CheckFailed, UserError } from '../domain/errors/errors.ts'
import { type AlertRoute, routeFor } from '../domain/policy/alert-route.ts'
import { unlessAborted } from '../domain/within.ts'
import { Denied } from '../requests/access/refuse.ts'
import { requestIdFor, type Submit } from '../requests/lifecycle/submit/submit.ts'
import type { Store } from '../requests/store/store.ts'
import { toUserWords } from '../slack/errors.ts'
import { type Mrkdwn, mrkdwn } from '../slack/text/text.ts'
import type { AlertClaim, AlertStates, Proposed } from './alert-states.ts'
import { untilFree } from './claiming.ts'
import type { FindAlerted, FoundServer, FoundServers } from './find-servers.ts'
import type { IsProposal } from './is-proposal.ts'
import { nothingProposed, problemWords } from './messages/messages.ts'
import type { Tell } from './messages/tell.ts'
import { type RefusalReason, TryLater } from './outcome.ts'
import type { Alert } from './payload/payload.ts'
import { reasonOf, sourceOf } from './payload/source-alert.ts'
import { type Unevaluated, unevaluatedRule } from './payload/unevaluated.ts'
import type { Slots } from './slots.ts'

/** What became of a firing alert. `storm`: it is still claimed, and the storm's thread has to list it. */
export type TakenFiring =
  | { is: 'proposed' | 'duplicate' | 'unmatched' }
  | { is: 'refused'; reason: RefusalReason }
  | { is: 'storm'; stormy: Stormy }

/** How often what Redis says of an alert is found to be wrong, before the sender has to repeat it. */
const mostTries = 3

/** Redis says that the alert led to this request, and it did not. */
interface ForgedProposal {
  is: 'forged'
  proposed: Proposed
}

/** A claimed alert without a separate message, because there are too many. */
export interface Stormy {
  alert: Alert
  channelId: string
  claim: AlertClaim
  server: FoundServer | undefined
}

export interface TakeFiringParts {
  routes: AlertRoute[]
  /** The change that alerts request. */
  change: Change
  states: AlertStates
  slots: Slots
  findAlerted: FindAlerted
  submit: Submit
  store: Pick<Store, 'find'>
  isProposal: IsProposal
  /** Receives a request that no alert about that server led to, although Redis said so. */
  onForged: (proposed: Proposed) => void
  tell: Tell
  /** The slash command, for what people can do by hand. */
  command: string
  /** The workspace of the bot. */
  teamId: () => string | undefined
  /** Receives a channel that takes no message, with Slack's error code. */
  onUnposted: (channelId: string, error: string) => void
  waitMs?: number
}

/** An alert while it is handled. */
interface Taking {
  alert: Alert
  route: AlertRoute
  claim: AlertClaim
}

/**
 * Creates the function that proposes an evacuation for a firing alert, or says in the channel why it does not. It is safe to repeat, also in
 * another process. Throws TryLater, StoreUnavailableError, and the errors of the account API; the sender then repeats the alert.
 */
export function createTakeFiring(parts: TakeFiringParts) {
  const { routes, change, states, slots, findAlerted, submit, store, isProposal, onForged, tell, command, teamId, onUnposted, waitMs } =
    parts

  async function takeFiring(alert: Alert, signal: AbortSignal): Promise<TakenFiring> {
    const route = routeFor(routes, alert.labels)
    if (!route) return { is: 'unmatched' }
    for (let attempt = 0; attempt < mostTries; attempt += 1) {
      const taken = await tryFiring(alert, route, signal)
      if (taken.is !== 'forged') return taken
      await states.forget(alert.key, taken.proposed)
      onForged(taken.proposed)
    }
    throw new TryLater('no alert led to the request that stands for it')
  }

  async function tryFiring(alert: Alert, route: AlertRoute, signal: AbortSignal): Promise<TakenFiring | ForgedProposal> {
    const claimed = await untilFree(() => states.claim(alert.key, alert), { waitMs, signal })
    if (claimed.is === 'done' && claimed.proposed) return duplicateOf(claimed.proposed)
    if (claimed.is !== 'claimed') return { is: 'duplicate' }
    const taking = { alert, route, claim: claimed.claim }
    try {
      // A stop does not wait for the account API: the claims end, and the next process goes on at once. Tries of one episode make one request.
      const found = unevaluatedRule(route, alert.labels) ?? (await unlessAborted(signal, findAlerted(route, alert.labels)))
      if (found.is !== 'found') return await refuse(taking, problemWords(found), { ...problemOf(found) })
      return await proposeFor(taking, found, signal)
    } catch (error) {
      await states.free(taking.claim).catch(() => undefined)
      throw error
    }
  }

  async function proposeFor(
    taking: Taking,
    servers: Extract<FoundServers, { is: 'found' }>,
    signal: AbortSignal,
  ): Promise<TakenFiring | ForgedProposal> {
    const { claim, route } = taking
    const { server } = servers
    const claimed = await untilFree(() => states.claimServer(claim, server.id), { waitMs, signal })
    if (claimed.is === 'joined') return duplicateOf({ requestId: claimed.requestId, serverId: server.id })
    if (claimed.is === 'lost') throw new TryLater('the claim of the alert ran out')
    const { episode } = claimed
    try {
      const requestId = requestIdFor(deliveryKeyOf(episode))
      // An earlier try may have died after it made the request. The account may have changed since.
      if (!(await store.find(requestId))) {
        if (!(await slots.take('proposals', route.channelId, episode))) return storm(taking, server)
        const refused = await requestEvacuation(taking, servers, episode, signal)
        if (refused) {
          await slots.giveBack('proposals', route.channelId, episode)
          return await refuse(taking, refused.words, { server, reason: refused.reason, serverId: server.id })
        }
      }
      await states.settle(claim, { outcome: 'proposed', value: requestId, serverId: server.id })
      return { is: 'proposed' }
    } catch (error) {
      await states.free(claim, server.id).catch(() => undefined)
      throw error
    }
  }

  /** An alert is only hidden by a request that an alert about its server led to. */
  async function duplicateOf(proposed: Proposed): Promise<TakenFiring | ForgedProposal> {
    return (await isProposal(proposed.requestId, proposed.serverId)) ? { is: 'duplicate' } : { is: 'forged', proposed }
  }

  /** Returns why nothing was requested, or undefined. */
  async function requestEvacuation(
    { alert, route: { channelId } }: Taking,
    { server, target }: { server: FoundServer; target: FoundServer },
    episode: string,
    signal: AbortSignal,
  ): Promise<{ words: Mrkdwn; reason: RefusalReason } | undefined> {
    const team = teamId()
    try {
      const submitted = submit({
        change,
        input: change.inputOfAlert?.({ serverId: server.id, targetId: target.id }),
        origin: { channelId, userId: alertsRequester, command, ...(team === undefined ? {} : { teamId: team }) },
        reason: reasonOf(alert),
        alert: sourceOf(alert),
        deliveryKey: deliveryKeyOf(episode),
      })
      await unlessAborted(signal, submitted)
      return undefined
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      if (error instanceof Denied && (isForLackOfAnswer(error.denial) || error.denial.code === 'project-unknown'))
        throw new TryLater(error.denial.code)
      return { words: toUserWords(error) ?? mrkdwn`${error.message}`, reason: reasonOfRefusal(error) }
    }
  }

  /** Says in the channel why nothing was requested, once until the alert resolves. */
  async function refuse(
    taking: Taking,
    why: Mrkdwn,
    { server, reason, serverId }: { server: FoundServer | undefined; reason: RefusalReason; serverId?: string },
  ): Promise<TakenFiring> {
    const { alert, route, claim } = taking
    const { channelId } = route
    if (!(await slots.take('notices', channelId, alert.key))) return storm(taking, server)
    const words = nothingProposed(sourceOf(alert), why, { command, server: server?.name })
    const told = await tell({ channelId, key: `alert/${alert.key}` }, words, { again: claim.again })
    if (told.is === 'refused') {
      onUnposted(channelId, told.error)
      await states.free(claim, serverId)
      return { is: 'refused', reason: 'not-posted' }
    }
    await states.settle(claim, { outcome: 'told', serverId })
    return { is: 'refused', reason }
  }

  function storm({ alert, route: { channelId }, claim }: Taking, server: FoundServer | undefined): TakenFiring {
    return { is: 'storm', stormy: { alert, channelId, claim, server } }
  }

  return takeFiring
}
export type TakeFiring = ReturnType<typeof createTakeFiring>

/** All attempts of one episode make the same request. */
export function deliveryKeyOf(episode: string): string {
  return `alert:${episode}`
}

function problemOf(problem: Unevaluated | Exclude<FoundServers, { is: 'found' }>): {
  server: FoundServer | undefined
  reason: RefusalReason
} {
  return 'server' in problem ? { server: problem.server, reason: 'target' } : { server: undefined, reason: 'server' }
}

function reasonOfRefusal(error: UserError): RefusalReason {
  if (error instanceof CheckFailed) return 'check'
  return error instanceof Denied ? 'rule' : 'other'
}
