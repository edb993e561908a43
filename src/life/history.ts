import type { App } from '../app.ts'
import { alertsRequester } from '../domain/approval.ts'
import type { Change, Finding } from '../domain/change.ts'
import { canReverse, idOfResource, isOpen, type Request, type ToldAlert, targetAlerted, warningsOf } from '../domain/request.ts'
import type { RequestedChange } from '../domain/requested-change.ts'
import { canonicalJson } from '../domain/signing.ts'
import { lastChangeOf, rejectionOf } from '../messages/warnings.ts'
import { guardStore } from '../redis/connect.ts'

/** Returns the input of the change as far as it is done: for a change of several resources, only the items that are done. */
export function doneInput({ items }: Pick<Request, 'items'>, change: Change, input: unknown): unknown {
  const done = (items ?? []).filter(({ state }) => state === 'done').map(({ id }) => id)
  return items && change.items ? change.items.narrow(input, done) : input
}

interface Content {
  input: unknown
  facts: unknown
}

interface Requested extends Content {
  change: Pick<Change, 'kind' | 'items' | 'differences'>
}

export interface Earlier {
  undone?: Request | undefined
  repeated?: Request | undefined
}

/**
 * Finds none if the new one does something else: the person can change every field. A request for some of the items still counts. A request
 * whose result was changed since is not undone either.
 */
export async function findEarlier(
  app: App,
  { undoes, repeats }: Pick<RequestedChange, 'undoes' | 'repeats'>,
  requested: Requested,
): Promise<Earlier> {
  const asItLeft = (back: Content) => requested.change.differences(back.facts, requested.facts).length === 0
  const [undone, repeated] = await Promise.all([
    findOne(app, undoes, requested, (request) => [backOf(app, request)].find((back) => back && asItLeft(back))),
    findOne(app, repeats, requested, (request) => (isOpen(request.state) ? undefined : app.catalog.openIfFit(request))),
  ])
  return { undone, repeated }
}

/** `wanted` returns what the new request must do to belong to the earlier one. */
async function findOne(
  { store }: App,
  id: string | undefined,
  requested: Requested,
  wanted: (request: Request) => Content | undefined,
): Promise<Request | undefined> {
  const request = id === undefined ? undefined : await store.find(id)
  if (request?.kind !== requested.change.kind || request.cardTs === undefined) return undefined
  const content = wanted(request)
  return content && isPartOf(content, requested) ? request : undefined
}

function backOf({ catalog }: App, request: Request): Content | undefined {
  const opened = canReverse(request) ? catalog.openIfFit(request) : undefined
  return opened?.change.reverse?.(doneInput(request, opened.change, opened.input), opened.latest)
}

function isPartOf(whole: Content, { change: { items }, input, facts }: Requested): boolean {
  if (!items) return canonicalJson(whole.input) === canonicalJson(input)
  const known = new Set(items.of(whole.facts).map(({ id }) => id))
  const ids = items.of(facts).map(({ id }) => id)
  const narrowed = (one: unknown) => canonicalJson(items.narrow(one, ids))
  return ids.every((id) => known.has(id)) && narrowed(whole.input) === narrowed(input)
}

/** Returns the newest change of what a request changed, if nothing is left as that request put it. */
export async function changedSince({ store, signatures }: App, request: Request): Promise<Request | undefined> {
  const { id, resource, moreResources = [], items } = request
  const done = new Set(items?.flatMap((item) => (item.state === 'done' ? item.id : [])))
  const resources = items ? moreResources.filter((each) => done.has(idOfResource(each))) : [resource]
  const last = await store.lastChangesOf(resources)
  const later = [...last.values()].filter((each) => each.id !== id && signatures.verifyRecord(each) === 'genuine')
  return later.length < resources.length ? undefined : later.toSorted((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0))[0]
}

/** For approvers: that alerts about the target fire, since the first of them, in ms since 1970. 0: one does not say it. */
export async function alertsAbout({ redis, keys }: App, target: { id: string; name: string } | undefined): Promise<Finding[]> {
  const names = target ? await guardStore(() => redis.zrange(keys.alertsAbout(target.id), '0', '-1')) : []
  const since = Math.min(...names.map((name) => Number(name.slice(name.lastIndexOf('@') + 1))))
  return names.length === 0 ? [] : [{ code: targetAlerted, target: target?.name, ...(since && { since }) }]
}

/** An alert may flap. So often at most the thread of a request says that it resolved. */
const resolvedToldMs = 10 * 60_000

/** What a thread is to say of an alert now. Undefined: nothing, and the message alone shows it. It never goes on saying that one resolved which fires. */
export function toTell(told: ToldAlert | undefined, isFiring: boolean, now: number): ToldAlert | undefined {
  if (isFiring) return told?.isFiring ? undefined : { ...told, isFiring }
  return now - (told?.resolvedAt ?? 0) < resolvedToldMs ? undefined : { isFiring, resolvedAt: now }
}

/**
 * Brings what an open request says of alerts about its target up to date: its message until it is approved, and then its thread. Returns whether that
 * changed it. It reads again after each step, and alerts are noted before it is called, so that no order of two processes leaves a warning of an
 * alert that ended.
 */
export async function followAlerts(app: App, request: Request | undefined): Promise<boolean> {
  const target = request && isOpen(request.state) ? app.catalog.targetOf(request) : undefined
  if (!request || !target) return false
  const told = warningsOf(request).find(({ code }) => code === targetAlerted)
  const [firing] = await alertsAbout(app, target)
  const isTold = told !== undefined && told.until === undefined
  if (isTold === (firing !== undefined) || app.signatures.verifyRecord(request) !== 'genuine') return false
  const at = await app.store.now()
  const newest = firing ?? { ...told, code: targetAlerted, until: at }
  const newWarnings = [...request.newWarnings.filter(({ code }) => code !== targetAlerted), newest]
  const targetTold = request.state === 'waiting' ? undefined : toTell(request.targetTold, firing !== undefined, at)
  const { outcome } = await app.store.take(request, firing ? 'warn' : 'warn-resolved', {
    set: { newWarnings, ...(targetTold && { targetTold }) },
    audit: { by: alertsRequester },
    reports: targetTold ? ['target-alerted'] : [],
  })
  // It may have been approved or sent since it was read.
  if (outcome === 'missing') return false
  const [now] = await app.store.findMany([request.id])
  return (await followAlerts(app, now)) || outcome === 'won'
}

interface ToChange extends Content {
  change: Pick<Change, 'kind' | 'items' | 'differences' | 'resource'>
  resource: string
  subject: string
  /** What people call its items, by their resources. */
  names: ReadonlyMap<string, string>
}

/** The facts of each single change, by its resource. */
function singleFacts({ change: { items, resource }, input, facts }: Pick<ToChange, 'change' | 'input' | 'facts'>): Map<string, unknown> {
  return new Map(items ? items.of(facts).map((item) => [items.change.resource(item.input), item.facts]) : [[resource(input), facts]])
}

/** How these resources differ now from what a request left. */
function changedOutside(app: App, request: Request, resources: string[], now: ToChange): Finding[] {
  const [opened, back] = [app.catalog.openIfFit(request), backOf(app, request)]
  const [single, singleBefore] = [now.change, opened?.change].map((change) => change?.items?.change ?? change)
  if (!opened || !back || single?.kind !== singleBefore?.kind) return []
  const [left, today] = [singleFacts({ change: opened.change, ...back }), singleFacts(now)]
  // A new target is no change of the account.
  const differences = (each: string) =>
    single?.differences(left.get(each), today.get(each)).filter(({ code }) => code !== 'id-changed') ?? []
  return resources.flatMap((each) => (left.has(each) && today.has(each) ? differences(each) : []))
}

/** For approvers: that the repeated request was rejected, the last change of the same things and what is otherwise since, and those that may still finish. */
export async function historyBefore(app: App, changed: ToChange, { undone, repeated }: Earlier): Promise<Finding[]> {
  const { resource, subject, names } = changed
  const outside: Finding[] = []
  const isGenuine = (request: Request) => app.signatures.verifyRecord(request) === 'genuine'
  const rejection = repeated && isGenuine(repeated) ? rejectionOf(repeated) : undefined
  // Not what else the request locks: the last change under the name of a new key is an earlier creation, whatever changed that key since.
  const last = await app.store.lastChangesOf([...new Set([resource, ...names.keys()])])
  const found = [...Map.groupBy(last.keys(), (each) => last.get(each))].flatMap(([request, resources]) => {
    // A request that undoes or repeats the last change names it elsewhere.
    const isNamed = request?.id === undone?.id || request?.id === repeated?.id
    if (request?.endedAt === undefined || isNamed || !isGenuine(request)) return []
    const named = resources.includes(resource) ? [subject] : [...new Set(resources.map((each) => names.get(each) ?? subject))]
    const isDone = (each: string) => request.items?.find(({ id }) => id === idOfResource(each))?.state === 'done'
    const mayFinish = request.state === 'untracked' && !resources.every(isDone)
    outside.push(...changedOutside(app, request, request.items ? resources.filter(isDone) : resources, changed))
    return [lastChangeOf(request, named.length > 1 && named.length === names.size ? [] : named, mayFinish)]
  })
  const newest = found.toSorted((a, b) => b.at - a.at).filter(({ sentAt }, index) => index === 0 || sentAt !== undefined)
  return [...(rejection ? [rejection] : []), ...(outside.length > 0 ? [{ code: 'changed-outside', causes: outside }] : []), ...newest]
}
