import { hash } from 'node:crypto'
import type { App } from '../app.ts'
import { alertsRequester, isForLackOfAnswer } from '../domain/approval.ts'
import type { Change } from '../domain/change.ts'
import { ApiContractError, ApiError, ApiUnreachableError, StoreUnavailableError, UserError } from '../domain/errors.ts'
import { inLane } from '../domain/lane.ts'
import type { AlertRoute } from '../domain/policy.ts'
import { isOpen, type Request } from '../domain/request.ts'
import { unlessAborted } from '../domain/within.ts'
import type { CommonFinding } from '../messages/refusals.ts'
import { notifyOperators, oweText } from '../outbox/notices.ts'
import { onApiError } from '../outbox/operators.ts'
import { deliver, show } from '../outbox/outbox.ts'
import { guardStore } from '../redis/connect.ts'
import { readScripts, scriptsOf } from '../redis/scripts.ts'
import { Denied } from '../requests/access.ts'
import { stepOf } from '../requests/steps.ts'
import { requestIdFor } from '../requests/submit.ts'
import { toUserWords } from '../slack/errors.ts'
import { mrkdwn } from '../slack/text.ts'
import { type Alert, nameIn, reasonOf, routeFor, sourceOf } from './alert-payload.ts'
import { type EvacuationServers, findAlerted } from './alert-servers.ts'
import { forgedProposal, type NotRequested, nothingRequested } from './alert-words.ts'

const run = scriptsOf(readScripts(import.meta.url, ['join-server', 'leave-server']))

/** `unmatched`: no entry of the policy is for it. `duplicate`: handled before. `delayed`: its sender repeats it. */
export const alertOutcomes = ['received', 'proposed', 'duplicate', 'resolved', 'unmatched', 'refused', 'delayed'] as const
type Outcome = 'proposed' | 'duplicate' | 'resolved' | 'unmatched'

export class TryLater extends Error {
  override name = 'TryLater'
}

interface Firing {
  alert: Alert
  route: AlertRoute
}

type Refused = Omit<NotRequested, 'source'>
type ToList = Firing & { refused: Refused }

/** Safe to repeat, also in another process: the lock of the request is the only claim. `later`: the sender has to repeat the delivery. */
export async function takeDelivery(app: App, alerts: Alert[], stopping: AbortSignal, takeMs = 20_000): Promise<'accepted' | 'later'> {
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(takeMs)])
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
      app.metrics.alert('delayed', size)
      if (!signal.aborted && !(error instanceof TryLater)) reportError(app, error)
      if (error instanceof StoreUnavailableError) throw error
    }
  }

  async function takeOne(alert: Alert): Promise<void> {
    const route = routeFor(app.config.policy.alerts ?? [], alert.labels)
    const taken = route ? await takeFiring(app, { alert, route }, signal) : 'unmatched'
    if (typeof taken === 'string') app.metrics.alert(taken, 1)
    else if (route) toList.push({ alert, route, refused: taken })
  }

  app.metrics.alert('received', alerts.length)
  // Firing alerts come first: one of them may keep the request of an alert that resolves at the same moment.
  for (const alert of alerts) if (alert.isFiring) await attempt(() => takeOne(alert))
  for (const [channelId, some] of Map.groupBy(toList, ({ route }) => route.channelId))
    await attempt(() => list(app, channelId, some), some.length)
  for (const alert of alerts) if (!alert.isFiring) await attempt(async () => app.metrics.alert(await takeResolved(app, alert), 1))
  return delayed > 0 ? 'later' : 'accepted'
}

function reportError(app: App, error: unknown): void {
  const isOfAccount = error instanceof ApiError || error instanceof ApiUnreachableError || error instanceof ApiContractError
  if (isOfAccount) onApiError(app, error)
  else app.errors.of('alerts')(error)
}

async function takeFiring(app: App, { alert, route }: Firing, signal: AbortSignal): Promise<Outcome | Refused> {
  let record = await readAlert(app, alert)
  const { ended } = record
  // The process that ended it died before it withdrew the request.
  if (ended !== undefined && record.serverId !== undefined) await leave(app, { ...alert, startsAt: ended }, record.serverId)
  if (hasEnded(record, alert)) return 'duplicate'
  if (ended !== undefined) {
    // It fires again.
    await guardStore(() => app.redis.hdel(app.keys.alert(alert.key), 'ended'))
    record = {}
  }
  // A repeat needs nothing of the account, which may not answer, or show another server by that name.
  if (record.listed !== undefined) return 'duplicate'
  if (record.serverId !== undefined && (await openEpisode(app, alert, record.serverId)) === undefined) return 'duplicate'
  // A stop does not wait for the account API.
  const found = await unlessAborted(signal, findAlerted(app, route, alert.labels))
  if (found.is === 'problem') return found
  const episode = await openEpisode(app, alert, found.server.id)
  if (episode === undefined) return 'duplicate'
  const notRequested = await requestEvacuation(app, { alert, route }, { ...found, episode }, signal)
  if (notRequested) return notRequested
  // It resolved while it was handled, so whoever ended it found no request.
  if (hasEnded(await readAlert(app, alert), alert)) {
    await leave(app, alert, found.server.id, episode)
    return 'proposed'
  }
  const stillOpen = await openEpisode(app, alert, found.server.id)
  if (stillOpen === undefined) return 'proposed'
  // A record that cannot be read has the id, and would hide the alert.
  if (stillOpen === episode) await skipForged(app, found.server.id, requestIdOf(episode))
  throw new TryLater('the request does not stand')
}

/** Returns undefined once it is recorded, and otherwise why nothing was requested. */
async function requestEvacuation(
  app: App,
  { alert, route: { channelId } }: Firing,
  { server, target, episode }: EvacuationServers & { episode: string },
  signal: AbortSignal,
): Promise<'duplicate' | Refused | undefined> {
  const change = changeOf(app)
  const submitted = app.submit({
    change,
    input: change.inputOfAlert?.({ serverId: server.id, targetId: target.id }),
    origin: { channelId, userId: alertsRequester, command: app.config.slack.command, teamId: app.slack.identity.current()?.teamId },
    reason: reasonOf(alert, server.name),
    alert: sourceOf(alert),
    deliveryKey: deliveryKeyOf(episode),
  })
  try {
    await unlessAborted(signal, submitted)
    return undefined
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    if (error instanceof Denied && (isForLackOfAnswer(error.denial) || error.denial.code === 'project-unknown'))
      throw new TryLater(error.denial.code)
    const holder = await app.store.holderOf(resourceOf(app, server.id))
    const [held] = holder === undefined ? [] : await app.store.findMany([holder])
    if (held && isOpen(held.state) && isProposal(app, held, server.id)) {
      // The alerts that led to it have resolved, and it is about to be withdrawn.
      if (held.state === 'waiting' && held.id !== requestIdOf(episode))
        throw new TryLater('the last request of the server has not ended yet')
      return 'duplicate'
    }
    return { why: toUserWords(error) ?? mrkdwn`${error.message}`, server: server.name }
  }
}

/** Its id comes from the alerts, so that a repeat of the delivery owes the same one until each alert has its mark. */
async function list(app: App, channelId: string, all: ToList[]): Promise<void> {
  const id = hash('sha256', all.map(({ alert }) => `${alert.key}@${alert.startsAt ?? ''}`).join()).slice(0, 32)
  const marks = all.map(({ alert }) => app.keys.alert(alert.key))
  const listed = all.map(({ alert, route, refused }) => {
    return { ...refused, source: sourceOf(alert), server: refused.server ?? nameIn(route, alert.labels) }
  })
  const words = nothingRequested(listed, app.config.slack.command).text
  await oweText(app, { id, name: 'alerts' }, { channelId, words, forget: marks })
  await guardStore(() => marks.reduce((all, mark) => all.hset(mark, 'listed', id).pexpire(mark, listedMs), app.redis.multi()).exec())
  app.metrics.alert('refused', all.length)
  // If this fails, the list is sent at the next tick.
  await deliver(app, id, 'alerts').catch(() => {})
}

/** Ends the request of a resolved alert. It stays while another alert about the same server fires, because the server is not well yet. */
async function takeResolved(app: App, alert: Alert): Promise<Outcome> {
  const { redis, keys } = app
  const name = keys.alert(alert.key)
  // Before the read, so that a process that makes a request for this alert at the moment finds that it has resolved.
  await guardStore(() =>
    redis
      .multi()
      .hset(name, 'ended', alert.startsAt ?? '')
      .pexpire(name, joinedMs)
      .exec(),
  )
  const { serverId, listed } = await readAlert(app, alert)
  await (serverId === undefined ? end(app, alert) : leave(app, alert, serverId))
  return (serverId ?? listed) === undefined ? 'unmatched' : 'resolved'
}

// What all processes know of an alert and of a server that alerts are about.

const dayMs = 24 * 3_600_000

/** A request can wait for 30 days, and its alert fires for a while after the decision. */
const joinedMs = 37 * dayMs

/** How long an alert that a message lists is not listed again, unless it resolves. */
const listedMs = 7 * dayMs

/** How long after an alert resolved a late delivery, or one from another Alertmanager of a cluster, is recognized. */
const endedMs = 10 * 60_000

interface AlertRecord {
  serverId?: string
  /** The id of the message that lists why it led to no request. */
  listed?: string
  /** When an alert that has resolved since had begun, as it said itself. */
  ended?: string
}

function readAlert({ redis, keys }: App, { key }: Alert): Promise<AlertRecord> {
  return guardStore(() => redis.hgetall(keys.alert(key)))
}

/** Whether the alert has resolved that this firing one is. A late delivery may be from before. */
function hasEnded({ ended }: AlertRecord, { startsAt }: Alert): boolean {
  return startsAt !== undefined && ended === startsAt
}

/** How often the request of a server is found to stand no longer, or to be forged, before the sender has to repeat the alert. */
const mostEpisodes = 10

/** Finds the episode that has no request yet. Undefined if a request stands. All attempts in all processes make the same request. */
async function openEpisode(app: App, { key, startsAt }: Alert, serverId: string): Promise<string | undefined> {
  const { redis, keys } = app
  // With the alert, because one may begin while another that began with it ends.
  const begins = `${serverId}/${key}/${startsAt ?? new Date().toISOString()}`
  const values = [`alert:${key}`, serverId, begins, String(joinedMs)]
  let [episode = begins] = await run(redis, 'join-server', [keys.alert(key), keys.alertedServer(serverId)], values)
  for (let attempt = 0; attempt < mostEpisodes; attempt += 1) {
    const requestId = requestIdOf(episode)
    // A record that cannot be read is none: `takeFiring` finds that its id is taken.
    const [request] = await app.store.findMany([requestId])
    if (!request) return episode
    const isGenuine = isProposal(app, request, serverId)
    if (isGenuine && stands(request)) return undefined
    episode = isGenuine ? await nextEpisode(app, serverId, requestId) : await skipForged(app, serverId, requestId)
  }
  throw new TryLater('no request of the server stands')
}

/** Begins the next episode of a server whose request does not stand. All processes that find it so choose the same one. */
async function nextEpisode({ redis, keys }: App, serverId: string, requestId: string): Promise<string> {
  const episode = `${serverId}/${requestId}`
  await guardStore(() => redis.hset(keys.alertedServer(serverId), 'episode', episode))
  return episode
}

async function skipForged(app: App, serverId: string, requestId: string): Promise<string> {
  await notifyOperators(app, 'record-not-genuine', forgedProposal(requestId), { requestId })
  return nextEpisode(app, serverId, requestId)
}

function stands({ state }: Request): boolean {
  return state !== 'expired' && state !== 'withdrawn'
}

/** An alert is only hidden by a genuine request of alerts for its server, and not by any other one that somebody names in Redis. */
function isProposal(app: App, request: Request, serverId: string): boolean {
  if (request.origin.userId !== alertsRequester || request.kind !== changeOf(app).kind || request.resource !== resourceOf(app, serverId))
    return false
  return app.signatures.verifyRecord(request) === 'genuine'
}

function resourceOf(app: App, serverId: string): string {
  const change = changeOf(app)
  return change.resource(change.inputOfAlert?.({ serverId, targetId: '' }))
}

function changeOf({ catalog }: App): Change {
  const change = catalog.changeOfAlerts()
  if (!change) throw new Error('no change is for alerts')
  return change
}

const deliveryKeyOf = (episode: string) => `alert:${episode}`
const requestIdOf = (episode: string) => requestIdFor(deliveryKeyOf(episode))

/** `requested`: the episode of the request that was made for the alert after it had left. */
async function leave(app: App, alert: Alert, serverId: string, requested = ''): Promise<void> {
  const names = [app.keys.alert(alert.key), app.keys.alertedServer(serverId)]
  const [episode] = await run(app.redis, 'leave-server', names, [`alert:${alert.key}`, alert.startsAt ?? '', requested])
  if (episode) await resolveRequest(app, requestIdOf(episode), `resolved:${episode}`)
  await end(app, alert)
}

async function end({ redis, keys }: App, { key, startsAt = '' }: Alert): Promise<void> {
  const name = keys.alert(key)
  await guardStore(() => redis.multi().del(name).hset(name, 'ended', startsAt).pexpire(name, endedMs).exec())
}

/** Moves of a request take steps at the same moment, a few a second. Each time another step was first, the record is read again. */
const mostTries = 20

/** Withdraws one that waits; the thread of an approved one says so. `token`: the same for all tries, so that the thread says it once. */
async function resolveRequest(app: App, requestId: string, token: string): Promise<void> {
  for (let attempt = 0; attempt < mostTries; attempt += 1) {
    const request = await app.store.find(requestId)
    if (!request) return
    const isWaiting = request.state === 'waiting'
    if (!isWaiting && !stepOf('note-resolved').from.some((state) => state === request.state)) return
    const causes: CommonFinding[] = [{ code: 'alert-resolved' }]
    const data = { set: isWaiting ? { causes } : {}, audit: { by: alertsRequester } }
    const { outcome } = await app.store.take(request, isWaiting ? 'withdraw-resolved' : 'note-resolved', data, token)
    // The outbox shows it later if this fails.
    if (outcome === 'won') return void (await show(app, requestId).catch(app.errors.of('alerts')))
  }
  throw new TryLater(`request ${requestId} kept changing while its alert resolved`)
}
