import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { guardStore, type Redis } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { createScripts, readScripts } from '../redis/scripts.ts'
import { type NoticePlace, readPlace } from './notice-place.ts'

const stands = readFileSync(new URL('./lua/request-stands.lua', import.meta.url), 'utf8')
const names = ['alert-claim', 'alert-claim-server', 'alert-settle', 'alert-leave-server', 'alert-free', 'alert-forget'] as const
const scripts = new Map([...readScripts(import.meta.url, names)].map(([name, source]) => [name, `${stands}\n${source}`]))

const dayMs = 24 * 3_600_000

/** How long an alert that led to a request or a notice leads to no other one, unless it resolves. */
const standsMs = 7 * dayMs

/** A request can wait for 30 days. After its decision, alerts about the same server are duplicates for 7 more days. */
const proposedKeepMs = 37 * dayMs

/** How long after an alert resolved a late delivery, or one from another Alertmanager of a cluster, is recognized. */
const resolvedKeepMs = 10 * 60_000

/** Longer than the reads and the post for one alert can take. The process of an older claim has died. */
const usualClaimMs = 60_000

/** A storm has one message in its channel. After this time, further alerts start another one. */
export const stormMs = 10 * 60_000

/** Names the storm of a channel, which is claimed and settled like an alert. */
export const stormIn = (channelId: string) => `storm-${channelId}`

/**
 * The outcome of an alert. `proposed`: a request was made, and the value is its id. `explained`: a message in the channel says why there is none,
 * and the value is the message's channel and time stamp. `storm`: the message of a storm was posted, and the value is its time stamp.
 */
type AlertOutcome = 'proposed' | 'explained' | 'resolved' | 'storm'

const keepMs: Record<AlertOutcome, number> = { proposed: proposedKeepMs, explained: standsMs, resolved: resolvedKeepMs, storm: stormMs }

/** The right of one process to handle an alert for a while. */
export interface AlertClaim {
  key: string
  token: string
  /** Whether an earlier attempt may already have had an effect. */
  again: boolean
}

/** The request that an alert led to, and its server. */
export interface Proposed {
  requestId: string
  serverId: string
}

/**
 * `done`: it was handled before. `proposed`: what it led to, if it led to a request. `unknown`: it resolved, and had led to nothing. `busy`: another process
 * handles it.
 */
type Claiming =
  | { is: 'claimed'; claim: AlertClaim }
  | { is: 'done'; value: string; proposed?: Proposed }
  | { is: 'unknown' }
  | { is: 'busy' }

/**
 * `claimed`: make a request for the server; all attempts of one `episode` make the same request. `joined`: the server already has a
 * request. `lost`: the claim of the alert expired.
 */
type ServerClaiming = { is: 'claimed'; episode: string } | { is: 'joined'; requestId: string } | { is: 'lost' } | { is: 'busy' }

/** `last`: no other alert about the server fires. `others`: some do. `gone`: the server has no entry. */
type Leaving = { is: 'last'; requestId: string | undefined; episode: string } | { is: 'others' | 'gone' | 'lost' } | { is: 'busy' }

interface KnownAlert {
  serverId: string | undefined
  isRecorded: boolean
  notice: NoticePlace | undefined
}

interface AlertStatesParts {
  redis: Redis
  keys: Keys
  claimMs?: number
}

/**
 * Creates the record of each alert's outcome, shared by all replicas. A process claims an alert before it acts on it. If the process dies,
 * its claim expires, and the next delivery continues. The functions throw StoreUnavailableError if Redis does not answer.
 */
export function createAlertStates({ redis, keys, claimMs = usualClaimMs }: AlertStatesParts) {
  const run = createScripts(redis, scripts)
  const nameIn = (key: string) => `alert:${key}`

  /** Claims an alert. `startsAt`: when it began, as the alert says. */
  async function claim(key: string, { isFiring, startsAt = '' }: { isFiring: boolean; startsAt?: string | undefined }): Promise<Claiming> {
    const token = randomUUID()
    const values = [token, claimMs, standsMs, keys.recordPrefix, standsMs, startsAt, isFiring ? 'firing' : 'resolved'].map(String)
    const [is, how = '', outcome, serverId = ''] = await run('alert-claim', [keys.alert(key)], values)
    if (is === 'claimed') return { is, claim: { key, token, again: how === 'again' } }
    if (is === 'done') return { is, value: how, ...(outcome === 'proposed' ? { proposed: { requestId: how, serverId } } : {}) }
    return { is: is === 'busy' ? is : 'unknown' }
  }

  /** Claims the server that a claimed alert is about. */
  async function claimServer({ key, token }: AlertClaim, serverId: string): Promise<ServerClaiming> {
    const values = [token, claimMs, proposedKeepMs, keys.recordPrefix, standsMs, nameIn(key), serverId, randomUUID()].map(String)
    const [is, value = ''] = await run('alert-claim-server', [keys.alert(key), keys.alertedServer(serverId)], values)
    if (is === 'claimed') return { is, episode: value }
    if (is === 'joined') return { is, requestId: value }
    return { is: is === 'busy' ? is : 'lost' }
  }

  /** Records the outcome of a claimed alert, and ends its claims. */
  async function settle(
    { key, token }: AlertClaim,
    {
      outcome,
      value = '',
      serverId,
      startsAt = '',
    }: { outcome: AlertOutcome; value?: string; serverId?: string | undefined; startsAt?: string | undefined },
  ): Promise<void> {
    await run('alert-settle', keysOf(key, serverId), [token, outcome, value, String(keepMs[outcome]), startsAt])
  }

  /** Ends the claims of a failed attempt. The next delivery tries again. */
  async function free({ key, token }: AlertClaim, serverId?: string): Promise<void> {
    await run('alert-free', keysOf(key, serverId), [token])
  }

  /** Forgets that an alert led to a request for a server, and that the server has one, because that is wrong. */
  async function forget(key: string, { requestId, serverId }: Proposed): Promise<void> {
    await run('alert-forget', keysOf(key, serverId), [requestId])
  }

  /** Removes a resolved alert from the alerts of its server. */
  async function leaveServer({ key, token }: AlertClaim, serverId: string): Promise<Leaving> {
    const values = [token, String(claimMs), nameIn(key)]
    const [is, requestId, episode = ''] = await run('alert-leave-server', [keys.alert(key), keys.alertedServer(serverId)], values)
    if (is === 'last') return { is, requestId: requestId || undefined, episode }
    return { is: is as 'others' | 'gone' | 'lost' }
  }

  /** Returns what is known of a claimed alert: its server, whether its outcome is recorded, and the message that explained it. */
  async function knownOf({ key }: AlertClaim): Promise<KnownAlert> {
    const [serverId, outcome, value] = await guardStore(() => redis.hmget(keys.alert(key), 'serverId', 'outcome', 'value'))
    const notice = outcome === 'explained' ? readPlace(value ?? '') : undefined
    return { serverId: serverId ?? undefined, isRecorded: Boolean(outcome), notice }
  }

  function keysOf(key: string, serverId: string | undefined): string[] {
    return serverId === undefined ? [keys.alert(key)] : [keys.alert(key), keys.alertedServer(serverId)]
  }

  return { claim, claimServer, settle, free, forget, leaveServer, knownOf }
}
export type AlertStates = ReturnType<typeof createAlertStates>
