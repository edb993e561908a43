import { hash, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { alertsRequester, isForLackOfAnswer, isMachine } from '../domain/approval.ts'
import type { Change } from '../domain/change.ts'
import { CheckFailed, StoreUnavailableError, UserError } from '../domain/errors.ts'
import { inLane } from '../domain/lane.ts'
import { type AlertRoute, routeFor } from '../domain/policy.ts'
import { isOpen, type Request } from '../domain/request.ts'
import type { RequestSignatures } from '../domain/request-signature.ts'
import { unlessAborted } from '../domain/within.ts'
import { possibleDuplicate } from '../messages/reports.ts'
import type { EvacuationFinding } from '../moves/evacuation.ts'
import { guardStore, type Redis } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { claim as claimKey, createScripts, readScripts } from '../redis/scripts.ts'
import { Denied } from '../requests/access.ts'
import type { ResolveAlert } from '../requests/resolve-alert.ts'
import type { Store } from '../requests/store.ts'
import { requestIdFor, type Submit } from '../requests/submit.ts'
import { notice } from '../slack/blocks.ts'
import { toUserWords } from '../slack/errors.ts'
import { mrkdwn } from '../slack/text.ts'
import type { Messenger } from '../slack/web-api.ts'
import { type Alert, nameIn, reasonOf, sourceOf, unevaluatedRule } from './alert-payload.ts'
import { type EvacuationServers, type FindAlertedParts, findAlerted } from './alert-servers.ts'
import { type NotRequested, nothingRequested, problemWords, type RefusalReason } from './alert-words.ts'

const scripts = readScripts(import.meta.url, ['join-server', 'leave-server'])

const dayMs = 24 * 3_600_000

/** A request can wait for 30 days. After its decision, alerts about the same server are duplicates for 7 more days. */
const joinedMs = 37 * dayMs

/** How long an alert that a message lists is not listed again, unless it resolves. */
const listedMs = 7 * dayMs

/** How long after an alert resolved a late delivery, or one from another Alertmanager of a cluster, is recognized. */
const endedMs = 10 * 60_000

/** Longer than one delivery takes. The process of an older claim has died. */
const usualClaimMs = 60_000

/** How long a delivery waits for another one that handles the same alert, and how often it checks. */
const usualWaitMs = 5_000
const checkMs = 150

/** What is known of an alert. */
export interface AlertRecord {
  serverId?: string
  /** The key of the message that lists why it led to no request. Written before the message is posted. */
  list?: string
  /** Set once that message was posted. */
  listed?: string
  /** When an alert that has resolved since had begun, as it said itself. */
  ended?: string
}

/** Ends the right of this process to handle an alert. */
export type Release = () => Promise<void>

interface AlertRecordsParts {
  redis: Redis
  keys: Keys
  claimMs?: number | undefined
  waitMs?: number | undefined
}

/** What all processes know of alerts and their servers. The functions throw StoreUnavailableError if Redis does not answer. */
export function createAlertRecords({ redis, keys, claimMs = usualClaimMs, waitMs = usualWaitMs }: AlertRecordsParts) {
  const run = createScripts(redis, scripts)
  const memberOf = ({ key }: Alert) => `alert:${key}`

  /**
   * Claims an alert, so that no other process handles it. Two Alertmanagers of a cluster send the same alert at the same moment, and the second one
   * must not get 200 before the alert is recorded. Undefined if another process has the claim for too long.
   */
  async function claim({ key }: Alert, signal: AbortSignal): Promise<Release | undefined> {
    const token = randomUUID()
    const endsAt = Date.now() + waitMs
    while ((await claimKey(redis, keys.alertClaim(key), { token, lastsMs: claimMs })) !== undefined) {
      if (Date.now() > endsAt || signal.aborted) return undefined
      await pause(checkMs)
    }
    // A claim that is not released ends by itself.
    return async () => void (await run('release', [keys.alertClaim(key)], [token]).catch(() => undefined))
  }

  async function read({ key }: Alert): Promise<AlertRecord> {
    return guardStore(() => redis.hgetall(keys.alert(key)))
  }

  /** Adds a firing alert to those of its server. Returns the episode of the server, which names the request. */
  async function join(alert: Alert, serverId: string): Promise<string> {
    const begins = `${serverId}/${alert.key}/${alert.startsAt ?? new Date().toISOString()}`
    const values = [memberOf(alert), serverId, begins, String(joinedMs)]
    const [episode = begins] = await run('join-server', [keys.alert(alert.key), keys.alertedServer(serverId)], values)
    return episode
  }

  /** Begins the next episode of a server whose request does not stand. All processes that find it so choose the same one. */
  async function nextEpisode(serverId: string, requestId: string): Promise<string> {
    const episode = `${serverId}/${requestId}`
    await guardStore(() => redis.hset(keys.alertedServer(serverId), 'episode', episode))
    return episode
  }

  /** Takes a resolved alert from its server. Returns the episode if no other alert of it fires. */
  async function leave(alert: Alert, serverId: string): Promise<string | undefined> {
    const [episode] = await run('leave-server', [keys.alert(alert.key), keys.alertedServer(serverId)], [memberOf(alert)])
    return episode || undefined
  }

  /** Records that a message with this key lists these alerts, or, before it is posted, that it may. */
  async function setListed(alerts: Alert[], list: string, { isPosted }: { isPosted: boolean }): Promise<void> {
    const write = redis.multi()
    for (const { key } of alerts)
      write.hset(keys.alert(key), { list, ...(isPosted ? { listed: '1' } : {}) }).pexpire(keys.alert(key), listedMs)
    await guardStore(() => write.exec())
  }

  /** Records that an alert has resolved. */
  async function end({ key, startsAt = '' }: Alert): Promise<void> {
    const name = keys.alert(key)
    await guardStore(() => redis.multi().del(name).hset(name, 'ended', startsAt).pexpire(name, endedMs).exec())
  }

  /** Forgets an alert that has resolved, because it fires again. */
  async function forget({ key }: Alert): Promise<void> {
    await guardStore(() => redis.del(keys.alert(key)))
  }

  return { claim, read, join, nextEpisode, leave, setListed, end, forget }
}
export type AlertRecords = ReturnType<typeof createAlertRecords>

/**
 * What became of one alert. `received` counts each alert that arrived; `unmatched`: no entry of the policy is for it; `duplicate`: it was handled
 * before; `delayed`: it could not be handled now, and its sender repeats it.
 */
export const alertOutcomes = ['received', 'proposed', 'duplicate', 'resolved', 'unmatched', 'refused', 'delayed'] as const
export type AlertCount = (typeof alertOutcomes)[number]

/** An alert could not be handled now. Its sender repeats it. */
export class TryLater extends Error {
  override name = 'TryLater'
}

/** After this time a delivery takes no further alert, so that its claims hold and its sender gets an answer. The sender repeats the rest. */
const usualTakeMs = 20_000

/** How long a decision stands while the alert fires. Later, the next repeat makes another request. */
const decisionStandsMs = 7 * 24 * 3_600_000

/** How far back to search for a message that an earlier attempt may have posted. */
const searchMs = 24 * 3_600_000

/** How often the request of a server is found to stand no longer, or to be forged, before the sender has to repeat the alert. */
const mostEpisodes = 10

/** What the handling of alerts uses. */
export interface Alerting extends FindAlertedParts {
  records: AlertRecords
  routes: AlertRoute[]
  /** The change that alerts request. */
  change: Pick<Change, 'kind' | 'resource' | 'inputOfAlert'>
  submit: Submit
  store: Pick<Store, 'findMany' | 'holderOf'>
  signatures: Pick<RequestSignatures, 'verifyRecord'>
  resolveAlert: ResolveAlert
  messenger: Pick<Messenger, 'post' | 'find'>
  /** The slash command, for what people can do by hand. */
  command: string
  /** The workspace of the bot. */
  teamId: () => string | undefined
  count: (outcome: AlertCount, count?: number) => void
  countRefused: (reason: RefusalReason, count?: number) => void
  /** Receives a channel that takes no message, with Slack's error code. */
  onUnposted: (channelId: string, error: string) => Promise<void> | void
  /** Receives the id of a request that no alert led to, although Redis said so. */
  onForged: (requestId: string) => Promise<void> | void
  /** Receives errors of the account API, and defects. */
  onError: (error: unknown) => void
  takeMs?: number | undefined
}

interface Firing {
  alert: Alert
  route: AlertRoute
}

/** Why a firing alert led to no request. */
interface Refused extends Omit<NotRequested, 'source' | 'named'> {
  is: 'refused'
  reason: RefusalReason
}

/** A refused alert. It is claimed until its channel has the list. */
interface ToList extends Firing {
  refused: Refused
  record: AlertRecord
  release: Release
}

type Taken = { is: 'proposed' | 'duplicate' } | Refused

/**
 * Handles the alerts of one delivery: requests evacuations, ends the requests of resolved alerts, and posts one list of what was not requested.
 * Safe to repeat, also in another process at the same time. `later`: the sender has to repeat the delivery; what was handled is a duplicate then.
 */
export async function takeDelivery(alerting: Alerting, alerts: Alert[], signal: AbortSignal): Promise<'accepted' | 'later'> {
  const { count, onError, takeMs = usualTakeMs } = alerting
  const endsAt = performance.now() + takeMs
  const toList: ToList[] = []
  let delayed = 0

  /** Runs work for one or several alerts, and notes if it has to be done later. Without Redis no other alert can be handled either. */
  async function attempt(work: () => Promise<void>, size = 1): Promise<void> {
    try {
      signal.throwIfAborted()
      // People wait for what an alert leads to.
      await inLane('person', work)
    } catch (error) {
      delayed += size
      count('delayed', size)
      if (!signal.aborted && !(error instanceof TryLater)) onError(error)
      if (error instanceof StoreUnavailableError) throw error
    }
  }

  async function takeEach(some: Alert[], take: (alert: Alert) => Promise<void>): Promise<void> {
    for (const alert of some)
      await attempt(async () => {
        if (performance.now() > endsAt) throw new TryLater('the delivery takes too long')
        await take(alert)
      })
  }

  count('received', alerts.length)
  try {
    // Firing alerts come first: one of them may keep the request of an alert that resolves at the same moment.
    const firing = alerts.filter(({ isFiring }) => isFiring)
    await takeEach(firing, (alert) => takeFiring(alerting, alert, toList, signal))
    for (const some of Map.groupBy(toList, ({ route }) => route.channelId).values()) await attempt(() => list(alerting, some), some.length)
  } finally {
    for (const { release } of toList) await release()
  }
  const resolved = alerts.filter(({ isFiring }) => !isFiring)
  await takeEach(resolved, (alert) => takeResolved(alerting, alert, signal))
  return delayed > 0 ? 'later' : 'accepted'
}

/** Requests an evacuation for a firing alert, or adds it to `toList`. */
async function takeFiring(alerting: Alerting, alert: Alert, toList: ToList[], signal: AbortSignal): Promise<void> {
  const { records, routes, count } = alerting
  const route = routeFor(routes, alert.labels)
  if (!route) return count('unmatched')
  if (toList.some((each) => each.alert.key === alert.key)) return count('duplicate')
  const release = await claim(alerting, alert, signal)
  try {
    let record = await records.read(alert)
    if (record.ended !== undefined) {
      // A late delivery, from before the alert resolved.
      if (record.ended !== '' && record.ended === alert.startsAt) return await counted('duplicate')
      await records.forget(alert)
      record = {}
    }
    const { serverId, listed } = record
    // A repeat needs nothing of the account, which may not answer, or show another server by that name.
    const isKnown = listed !== undefined || (serverId !== undefined && (await openEpisode(alerting, alert, serverId)) === undefined)
    if (isKnown) return await counted('duplicate')
    const taken = await takeClaimed(alerting, { alert, route }, signal)
    if (taken.is !== 'refused') return await counted(taken.is)
    toList.push({ alert, route, refused: taken, record, release })
  } catch (error) {
    await release()
    throw error
  }

  async function counted(outcome: AlertCount): Promise<void> {
    await release()
    count(outcome)
  }
}

async function claim({ records }: Alerting, alert: Alert, signal: AbortSignal): Promise<Release> {
  const release = await records.claim(alert, signal)
  if (!release) throw new TryLater('another process handles the alert')
  return release
}

async function takeClaimed(alerting: Alerting, firing: Firing, signal: AbortSignal): Promise<Taken> {
  const { alert, route } = firing
  // A stop does not wait for the account API: the claim ends, and the next process goes on at once.
  const found = unevaluatedRule(route, alert.labels) ?? (await unlessAborted(signal, findAlerted(alerting, route, alert.labels)))
  if (found.is === 'found') return propose(alerting, firing, found, signal)
  const server = 'server' in found ? found.server.name : undefined
  return { is: 'refused', why: problemWords(found), server, reason: server === undefined ? 'server' : 'target' }
}

/** Requests the evacuation of a server, unless an alert's request for it stands. */
async function propose(alerting: Alerting, firing: Firing, servers: EvacuationServers, signal: AbortSignal): Promise<Taken> {
  const { server, target } = servers
  const episode = await openEpisode(alerting, firing.alert, server.id)
  if (episode === undefined) return { is: 'duplicate' }
  const notRequested = await requestEvacuation(alerting, firing, { serverId: server.id, targetId: target.id, episode }, signal)
  if (notRequested) return notRequested.is === 'refused' ? { ...notRequested, server: server.name } : notRequested
  const stillOpen = await openEpisode(alerting, firing.alert, server.id)
  if (stillOpen === undefined) return { is: 'proposed' }
  // A record that cannot be read has the id, and would hide the alert.
  if (stillOpen === episode) await skipForged(alerting, server.id, requestIdOf(episode))
  throw new TryLater('the request does not stand')
}

/**
 * Finds the episode of a server that has no request yet. Undefined if an alert's request stands. The id of the request comes from the server and from
 * the alert that began the episode, so all attempts in all processes make the same request.
 */
async function openEpisode(alerting: Alerting, alert: Alert, serverId: string): Promise<string | undefined> {
  const { records, store } = alerting
  let episode = await records.join(alert, serverId)
  for (let attempt = 0; attempt < mostEpisodes; attempt += 1) {
    const requestId = requestIdOf(episode)
    const [request] = await store.findMany([requestId])
    if (!request) return episode
    const isGenuine = isProposal(alerting, request, serverId)
    if (isGenuine && stands(request)) return undefined
    episode = isGenuine ? await records.nextEpisode(serverId, requestId) : await skipForged(alerting, serverId, requestId)
  }
  throw new TryLater('no request of the server stands')
}

async function skipForged({ records, onForged }: Alerting, serverId: string, requestId: string): Promise<string> {
  await onForged(requestId)
  return records.nextEpisode(serverId, requestId)
}

/** Submits the request of an alert. Returns undefined once it is recorded, and otherwise why nothing was requested. */
async function requestEvacuation(
  alerting: Alerting,
  { alert, route: { channelId } }: Firing,
  { episode, ...servers }: { serverId: string; targetId: string; episode: string },
  signal: AbortSignal,
): Promise<{ is: 'duplicate' } | Omit<Refused, 'server'> | undefined> {
  const { submit, change, command, teamId, store } = alerting
  const team = teamId()
  try {
    const submitted = submit({
      change: change as Change,
      input: change.inputOfAlert?.(servers),
      origin: { channelId, userId: alertsRequester, command, teamId: team },
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
    const holder = await store.holderOf(resourceOf(alerting, servers.serverId))
    const [held] = holder === undefined ? [] : await store.findMany([holder])
    if (held && isOpen(held.state) && isProposal(alerting, held, servers.serverId)) {
      // The alerts that led to it have resolved, and it is about to be withdrawn.
      if (held.state === 'waiting' && held.id !== requestIdOf(episode))
        throw new TryLater('the last request of the server has not ended yet')
      return { is: 'duplicate' }
    }
    const reason = error instanceof CheckFailed ? 'check' : error instanceof Denied ? 'rule' : 'other'
    return { is: 'refused', why: toUserWords(error) ?? mrkdwn`${error.message}`, reason, isEmpty: isNothingThere(error) }
  }
}

function isNothingThere(error: UserError): boolean {
  return error instanceof CheckFailed && error.finding.code === ('nothing-on-server' satisfies EvacuationFinding['code'])
}

/** An alert is only hidden by a genuine request of a machine for its server, and not by any other one that somebody names in Redis. */
function isProposal(alerting: Alerting, request: Request, serverId: string): boolean {
  const { change, signatures } = alerting
  if (!isMachine(request.origin) || request.kind !== change.kind || request.resource !== resourceOf(alerting, serverId)) return false
  return signatures.verifyRecord(request) === 'genuine'
}

function resourceOf({ change }: Alerting, serverId: string): string {
  return change.resource(change.inputOfAlert?.({ serverId, targetId: '' }))
}

/** Whether a request prevents another one while the alert fires: it is open, or was decided. An expired or withdrawn one was not. */
function stands({ state, decidedAt, endedAt }: Request): boolean {
  if (state === 'expired' || state === 'withdrawn') return false
  const at = decidedAt ?? endedAt
  return isOpen(state) || at === undefined || Date.now() - at < decisionStandsMs
}

function deliveryKeyOf(episode: string): string {
  return `alert:${episode}`
}

function requestIdOf(episode: string): string {
  return requestIdFor(deliveryKeyOf(episode))
}

/** Posts the list of alerts in a channel that led to no request, unless an earlier attempt has. Throws TryLater if Slack gives no answer. */
async function list(alerting: Alerting, all: ToList[]): Promise<void> {
  const { records, messenger, command, count, countRefused, onUnposted } = alerting
  const channelId = all[0]?.route.channelId ?? ''
  let rest = all
  let isUncertain = false
  // A process that died may have posted the list and not recorded it.
  for (const [key, some] of Map.groupBy(all, ({ record }) => record.list)) {
    if (key === undefined) continue
    const found = await messenger.find({ channelId, key, oldestMs: Date.now() - searchMs })
    if (found.is === 'unknown' || found.is === 'rate-limited') throw new TryLater('Slack did not answer')
    if (found.is === 'cannot-search') isUncertain = true
    if (found.is !== 'found') continue
    await records.setListed(alertsOf(some), key, { isPosted: true })
    rest = rest.filter((each) => !some.includes(each))
    count('duplicate', some.length)
  }
  if (rest.length === 0) return
  const key = `alerts/${hash('sha256', rest.map(({ alert }) => `${alert.key}@${alert.startsAt ?? ''}`).join()).slice(0, 32)}`
  await records.setListed(alertsOf(rest), key, { isPosted: false })
  const words = nothingRequested(rest.map(asNotRequested), command)
  const posted = await messenger.post({ channelId, key }, notice(isUncertain ? mrkdwn`${words}\n${possibleDuplicate}` : words))
  if (posted.is === 'refused') await onUnposted(channelId, posted.error)
  else if (posted.is === 'sent') await records.setListed(alertsOf(rest), key, { isPosted: true })
  else throw new TryLater('Slack did not answer')
  for (const { refused } of rest) {
    count('refused')
    countRefused(posted.is === 'refused' ? 'not-posted' : refused.reason)
  }
}

function alertsOf(some: ToList[]): Alert[] {
  return some.map(({ alert }) => alert)
}

function asNotRequested({ alert, route, refused }: ToList): NotRequested {
  return { ...refused, source: sourceOf(alert), named: nameIn(route, alert.labels) }
}

/** Ends the request of a resolved alert. It stays while another alert about the same server fires, because the server is not well yet. */
async function takeResolved(alerting: Alerting, alert: Alert, signal: AbortSignal): Promise<void> {
  const { records, resolveAlert, count } = alerting
  const release = await claim(alerting, alert, signal)
  try {
    const { serverId, ended, list: listedIn } = await records.read(alert)
    if (ended !== undefined || (serverId ?? listedIn) === undefined) return count('unmatched')
    const episode = serverId === undefined ? undefined : await records.leave(alert, serverId)
    if (episode !== undefined) await resolveAlert(requestIdOf(episode), `resolved:${episode}`)
    await records.end(alert)
    count('resolved')
  } finally {
    await release()
  }
}
