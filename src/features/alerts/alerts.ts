import type { App } from '../../app.ts'
import { alertsRequester, isForLackOfAnswer } from '../../domain/approval.ts'
import type { Change, Finding } from '../../domain/change.ts'
import { ApiContractError, ApiError, ApiUnreachableError, CheckFailed, StoreUnavailableError, UserError } from '../../domain/errors.ts'
import { inLane } from '../../domain/lane.ts'
import { type AlertRoute, firstApproversOf, rulesOfKind } from '../../domain/policy.ts'
import { isOpen, type Request } from '../../domain/request.ts'
import { unlessAborted } from '../../domain/within.ts'
import { followAlerts, toTell } from '../../life/history.ts'
import { whoIsIn } from '../../messages/request-words.ts'
import { type CommonFinding, endingWords, findingWords } from '../../messages/why-not.ts'
import { notifyOperators } from '../../outbox/notices.ts'
import { owedMs, oweFacts } from '../../outbox/once.ts'
import { onApiError } from '../../outbox/operators.ts'
import { deliver, show } from '../../outbox/outbox.ts'
import { stepOf } from '../../record/steps.ts'
import { guardStore } from '../../redis/connect.ts'
import { isRefused, toUserWords } from '../../slack/errors.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text.ts'
import { nameOfAlert } from './alert-list.ts'
import { type Alert, nameIn, reasonOf, routeFor, sourceOf } from './payload.ts'
import { type EvacuationServers, type FoundServer, findAlerted } from './servers.ts'
import { type Begun, begin, deliveryKeyOf, fires, isFlapping, join, type Known, noteWithdrawal, owesList, resolves } from './state.ts'
import { forgedProposal } from './unread.ts'

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

/** Why nothing was requested. `server`: if it is known. `toDo`: for people. `decide`: open requests are in the way, also of an evacuation by hand. */
interface Refused {
  why: Mrkdwn
  server: FoundServer | undefined
  toDo: 'evacuate' | 'decide' | 'nothing'
}
type ToList = Firing & { refused: Refused; known: Known }

/** Then the sender has to repeat what is left. */
const takeMs = 20_000

/** Safe to repeat, also in another process: the lock of the request is the only claim. `later`: the sender has to repeat the delivery. */
export async function takeDelivery(app: App, alerts: Alert[], stopping: AbortSignal): Promise<'accepted' | 'later'> {
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(takeMs)])
  const toList: ToList[] = []
  let delayed = 0

  /** Runs work for one or several alerts, and notes if it has to be done later. Without Redis no other alert can be handled either. */
  async function attempt<T>(work: () => Promise<T>, size = 1): Promise<T | undefined> {
    try {
      signal.throwIfAborted()
      // People wait for what an alert leads to.
      return await inLane('person', work)
    } catch (error) {
      delayed += size
      app.metrics.alert('delayed', size)
      if (!signal.aborted && !(error instanceof TryLater)) reportError(app, error)
      if (error instanceof StoreUnavailableError) throw error
      return undefined
    }
  }

  async function takeOne(noted: Noted): Promise<void> {
    const taken = noted.done ?? (await request(app, noted, signal))
    if (typeof taken === 'string') app.metrics.alert(taken, 1)
    else toList.push({ ...noted, refused: taken })
  }

  app.metrics.alert('received', alerts.length)
  // All that fire are noted before one of them leads to a request, because one may be about the target of another.
  const noted: Noted[] = []
  for (const alert of alerts) {
    const route = alert.isFiring ? routeFor(app.config.policy.alerts ?? [], alert.labels) : undefined
    if (route) noted.push(...((await attempt(async () => [await note(app, { alert, route }, signal)])) ?? []))
    else if (alert.isFiring) app.metrics.alert('unmatched', 1)
  }
  const alerted = noted.flatMap(({ servers, done }) => servers?.server.id ?? (typeof done === 'object' ? (done.server?.id ?? []) : []))
  await attempt(() => warnOfTargets(app, new Set(alerted)))
  // Firing alerts come first: one of them may keep the request of an alert that resolves at the same moment.
  for (const each of noted) await attempt(() => takeOne(each))
  for (const [channelId, some] of Map.groupBy(toList, ({ route }) => route.channelId))
    await attempt(() => list(app, channelId, some), some.length)
  const quiet = new Set<string>()
  for (const alert of alerts) if (!alert.isFiring) await attempt(async () => app.metrics.alert(await takeResolved(app, alert, quiet), 1))
  await attempt(() => warnOfTargets(app, quiet))
  return delayed > 0 ? 'later' : 'accepted'
}

function reportError(app: App, error: unknown): void {
  const isOfAccount = error instanceof ApiError || error instanceof ApiUnreachableError || error instanceof ApiContractError
  if (isOfAccount) onApiError(app, error)
  else app.errors.of('alerts')(error)
}

/** A firing alert, as it is known by now. `over`: its request, which a new one follows. `done`: nothing more is to be done. */
interface Noted extends Firing {
  known: Known
  over?: string | undefined
  done?: 'duplicate' | Refused | undefined
  servers?: EvacuationServers
}

/** Notes that it fires, and finds its server. A repeat needs nothing of the account, which may not answer, or show another server by that name. */
async function note(app: App, { alert, route }: Firing, signal: AbortSignal): Promise<Noted> {
  const known = await believe(app, alert)
  const { is, over } = await findOwn(app, alert, known)
  if (is === 'duplicate') return { alert, route, known, done: 'duplicate' }
  // A stop does not wait for the account API.
  const located = await unlessAborted(signal, findAlerted(app, route, alert.labels))
  if (located.server) await believe(app, alert, located.server.id)
  if (located.is === 'found') return { alert, route, known, over, servers: located }
  const refused = { why: located.why, server: located.server, toDo: located.isNoOutage ? 'nothing' : 'evacuate' } as const
  return { alert, route, known, done: known.listed === undefined ? refused : 'duplicate' }
}

async function believe(app: App, alert: Alert, serverId?: string): Promise<Known> {
  const known = await fires(app, alert, serverId)
  if (!known) throw new TryLater('the alert resolved a moment ago')
  return known
}

/** Brings the open requests to move addresses to these servers up to date with the alerts about them. */
async function warnOfTargets(app: App, ids: Set<string>): Promise<void> {
  if (ids.size === 0) return
  const open = await app.store.findMany(await guardStore(() => app.redis.zrange(app.keys.open, '0', '-1')))
  for (const request of open) {
    const { id } = app.catalog.targetOf(request) ?? {}
    if (id === undefined || !ids.has(id)) continue
    if (await followAlerts(app, request)) await show(app, request.id).catch(app.errors.of('alerts'))
  }
}

/** Finds out whether the request that an alert led to or joined still answers it. `over`: it does not. */
async function findOwn(app: App, alert: Alert, known: Known): Promise<{ is: 'duplicate' | 'new'; over?: string }> {
  const { request: id, made, server } = known
  const [own] = id === undefined ? [] : await app.store.findMany([id])
  if (id === undefined) return { is: 'new' }
  // An earlier attempt ended before it created the record, or Redis kept it for as long as records are kept.
  if (!own) return made === undefined ? { is: 'new', over: id } : { is: 'new' }
  if (server === undefined || !isProposal(app, own, server)) {
    await notifyOperators(app, 'record-changed', forgedProposal(id), { requestId: id })
    return { is: 'new', over: id }
  }
  if (own.state === 'expired' || own.state === 'withdrawn') return { is: 'new', over: id }
  // It may fire again after it resolved.
  if (!isOpen(own.state)) return { is: 'duplicate' }
  // It may have ended since it was read.
  return (await joinOpen(app, alert, own)) ? { is: 'duplicate' } : findOwn(app, alert, known)
}

/** Adds an alert to an open request for its server. False if that has ended. */
async function joinOpen(app: App, alert: Alert, request: Request): Promise<boolean> {
  const joined = await join(app, alert, request)
  if (joined === 'resolved') throw new TryLater('the alert resolved')
  // The process that took the last alert from it may have died before it withdrew the request. The thread of an approved one may say that it resolved.
  if (joined === 'leaving' || joined === 'joined') await followOwn(app, request.id)
  return joined === 'joined'
}

/** How often another process is found to have been first, before the sender has to repeat the alert. */
const mostAttempts = 5

/** Requests the evacuation, or joins the open request of alerts for the server. Returns why nothing was requested otherwise. */
async function request(app: App, firing: Noted, signal: AbortSignal): Promise<Outcome | Refused> {
  const { alert, servers, known } = firing
  if (!servers) throw new Error('the server of the alert is not known')
  let { over } = firing
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    const open = await openRequestFor(app, servers.server.id)
    if (open) {
      if (await joinOpen(app, alert, open)) return 'duplicate'
      continue
    }
    const current = attempt === 0 ? known : await believe(app, alert)
    const begun = begin(current, over)
    const joined = await join(app, alert, begun, over)
    if (joined === 'resolved') throw new TryLater('the alert resolved')
    if (joined !== 'joined') continue
    const refused = await submitEvacuation(app, firing, servers, begun, signal)
    // The request of another alert can have left nothing for this one, since it was looked for.
    if (refused && attempt < 2 && (refused.isLocked || (await openRequestFor(app, servers.server.id)))) continue
    const [made] = await app.store.findMany([begun.id])
    if (made && isProposal(app, made, servers.server.id)) {
      // From now on its id is not made again.
      await joinOpen(app, alert, made)
      // Another process can have requested the same for this alert, and that can have ended since.
      return refused ? 'duplicate' : 'proposed'
    }
    if (refused) return current.listed === undefined ? refused : 'duplicate'
    // A record that somebody else wrote, or that nobody can read, has the id. It must not hide the alert.
    await notifyOperators(app, 'record-changed', forgedProposal(begun.id), { requestId: begun.id })
    over = begun.id
  }
  throw new TryLater('others requested the same at the same time')
}

/** The open request of alerts that locks the server. An alert is only hidden by a genuine one. */
async function openRequestFor(app: App, serverId: string): Promise<Request | undefined> {
  const [holder] = await app.store.othersFor({ id: '', resource: resourceOf(app, serverId) })
  return holder && isProposal(app, holder, serverId) ? holder : undefined
}

/**
 * Undefined once it is recorded. `isLocked`: another request has what it needs, perhaps only since that was read, or one of alerts that was first. The
 * next attempt joins that one, or leaves the address out.
 */
async function submitEvacuation(
  app: App,
  { alert, route: { channelId } }: Firing,
  { server, target }: EvacuationServers,
  { id, made }: Begun,
  signal: AbortSignal,
): Promise<(Refused & { isLocked: boolean }) | undefined> {
  const change = changeOf(app)
  const submitted = app.submit({
    change,
    input: change.inputOfAlert?.({ serverId: server.id, targetId: target.id }),
    origin: { channelId, userId: alertsRequester, command: app.config.slack.command, teamId: app.slack.identity.current()?.teamId },
    reason: reasonOf(alert, server.name),
    alert: sourceOf(alert),
    isQuiet: await isFlapping(app, server.id),
    whileExists: app.keys.alertsOf(id),
    deliveryKey: deliveryKeyOf(made),
  })
  try {
    await unlessAborted(signal, submitted)
    return undefined
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    if (isRefused(error, 'not-needed')) throw new TryLater('the alert resolved')
    if (isForLackOfAnswer(error) || error.code === 'project-unknown') throw new TryLater(error.code)
    const finding = error instanceof CheckFailed ? error.finding : undefined
    const isLocked = isRefused(error, 'locked')
    // With links, and with a mention of those whose requests are in the way.
    const why = finding ? endingWords(findingWords(change, finding)) : toUserWords(error)
    return { why: why ?? mrkdwn`${error.message}`, server, toDo: toDoAfter(finding, isLocked), isLocked }
  }
}

/** Nobody is called if nothing is left to do. What is said of BGP addresses nobody can do here, and what other requests move goes on by itself. */
function toDoAfter(finding: Finding | undefined, isLocked: boolean): Refused['toDo'] {
  const listOf = (list: unknown): Record<string, unknown>[] => (Array.isArray(list) ? list : [])
  // People can still stop what comes to the server.
  if (finding?.code === 'nothing-on-server') return listOf(finding.moves).some(({ isAway }) => !isAway) ? 'decide' : 'nothing'
  const causes = finding?.code === 'addresses-cannot-move' ? listOf(finding.causes) : []
  const isInTheWay = causes.length > 0 && causes.every(({ code }) => code === 'locked')
  if (isInTheWay && causes.every(({ going, comes }) => going !== undefined && !comes)) return 'nothing'
  return isLocked || isInTheWay ? 'decide' : 'evacuate'
}

/** One message for the alerts of a delivery that led to no request. It mentions the approvers if there is something to do by hand. */
async function list(app: App, channelId: string, all: ToList[]): Promise<void> {
  const { kind } = changeOf(app)
  const { command } = app.config.slack
  const alerts = all.map(({ alert, route, refused: { why, server, toDo } }) => {
    const name = server?.name ?? nameIn(route, alert.labels)
    const offer = toDo === 'evacuate' ? { serverId: server?.id } : { notByHand: true as const }
    return {
      key: alert.key,
      startsAt: alert.startsAt,
      source: sourceOf(alert),
      summary: reasonOf(alert, name),
      why: why.text,
      server: name,
      ...offer,
    }
  })
  const calls = all.some(({ refused }) => refused.toDo !== 'nothing') ? (approversIn(app, kind, channelId) ?? '') : undefined
  const known = all.map((each) => each.known)
  const { id, left } = await owesList(app, { channelId, command, kind, calls, listedAt: Date.now(), alerts }, known)
  const rest = all.filter((_, index) => left.includes(index))
  app.metrics.alert(id === undefined ? 'duplicate' : 'refused', all.length - rest.length)
  // Another process has just listed the others.
  if (rest.length > 0) return list(app, channelId, rest)
  // If this fails, the list is sent at the next tick.
  if (id !== undefined) await deliver(app, id, 'alerts').catch(() => {})
}

/** Those who approve what alerts request in a channel, as a mention. Which rule of several decides depends on the project, which may not be known. */
function approversIn({ config }: App, kind: string, channelId: string): string | undefined {
  const rule = rulesOfKind(config.policy, { kind, channelId, hasProject: true }).find(({ alerts }) => alerts)
  const called = rule?.mention ?? (rule?.approve && firstApproversOf(rule.approve))
  const { text } = called ? whoIsIn(called) : mrkdwn``
  return text === '' ? undefined : text
}

/**
 * Withdraws the request of a resolved alert, unless another of its alerts still fires, and shows the end in the message that lists it. Adds its server to
 * those about which no alert fires anymore.
 */
async function takeResolved(app: App, alert: Alert, quiet: Set<string>): Promise<Outcome> {
  const ended = await resolves(app, alert)
  for (const { request, left, quiet: server, listed, name } of ended) {
    if (server !== undefined) quiet.add(server)
    if (request !== undefined && left === 0) await followOwn(app, request)
    if (listed !== undefined) await updateList(app, listed, name)
  }
  const isKnown = ended.some(({ name, request, listed }) => name === nameOfAlert(alert) && (request ?? listed) !== undefined)
  return isKnown ? 'resolved' : 'unmatched'
}

async function updateList(app: App, listed: string, name: string): Promise<void> {
  const id = `${listed}-${name}`
  await oweFacts(app, { id, name: 'alerts' }, JSON.stringify({ updates: listed }), owedMs)
  await deliver(app, id, 'alerts').catch(() => {})
}

/** Moves of a request take steps at the same moment, a few a second. Each time another step was first, the record is read again. */
const mostTries = 20

/** Withdraws one that waits once its last alert resolved. Of an approved one the message and, less often, the thread say that, and that one fires again. */
async function followOwn(app: App, requestId: string): Promise<void> {
  let isChanged = false
  for (let attempt = 0; attempt < mostTries; attempt += 1) {
    const request = await app.store.find(requestId)
    if (!request) return
    const isFiring = (await guardStore(() => app.redis.exists(app.keys.alertsOf(requestId)))) > 0
    const isWaiting = request.state === 'waiting'
    const isTold = isFiring ? isWaiting || !request.alertResolved : request.alertResolved
    const step = isWaiting ? 'withdraw-resolved' : isFiring ? 'note-firing' : 'note-resolved'
    if (isTold || !stepOf(step).from.some((state) => state === request.state)) {
      // The outbox shows it later if this fails.
      if (isChanged) await show(app, requestId).catch(app.errors.of('alerts'))
      return
    }
    const causes: CommonFinding[] = [{ code: 'alert-resolved' }]
    // After the end only its thread says it, once.
    const alertTold = isWaiting ? undefined : toTell(isOpen(request.state) ? request.alertTold : undefined, isFiring, await app.store.now())
    const set = isWaiting ? { causes } : { alertResolved: !isFiring, ...(alertTold && { alertTold }) }
    const data = { set, audit: { by: alertsRequester }, reports: alertTold ? (['resolved'] as const) : [] }
    const { outcome } = await app.store.take(request, step, data)
    if (outcome !== 'won') continue
    if (isWaiting) await noteWithdrawal(app, serverOf(app, request), requestId)
    // Another alert may have joined or left it since it was read.
    isChanged = true
  }
  throw new TryLater(`request ${requestId} kept changing while its alert did`)
}

function isProposal(app: App, request: Request, serverId: string): boolean {
  if (request.origin.userId !== alertsRequester || request.kind !== changeOf(app).kind || request.resource !== resourceOf(app, serverId))
    return false
  return app.signatures.verifyRecord(request) === 'genuine'
}

function resourceOf(app: App, serverId: string): string {
  const change = changeOf(app)
  return change.resource(change.inputOfAlert?.({ serverId, targetId: '' }))
}

const serverOf = (app: App, { resource }: Request): string => resource.slice(resourceOf(app, '').length)

function changeOf({ catalog }: App): Change {
  const change = catalog.changeOfAlerts()
  if (!change) throw new Error('no change is for alerts')
  return change
}
