import type { App } from '../app.ts'
import type { Origin, Requester } from '../domain/approval.ts'
import type { Change, Finding } from '../domain/change.ts'
import { canReverse, isOpen, type MessageRef, type Request, type SourceAlert } from '../domain/request.ts'
import { canonicalJson } from '../domain/signing.ts'
import { earlierEndOf, isRecent, type LastChange, lastChangeOf, type MoreChanges } from '../messages/warnings.ts'

/** Returns the input of the change as far as it is done: for a change of several resources, only the items that are done. */
export function doneInput({ items }: Pick<Request, 'items'>, change: Change, input: unknown): unknown {
  const done = (items ?? []).filter(({ state }) => state === 'done').map(({ id }) => id)
  return items && change.items ? change.items.narrow(input, done) : input
}

export interface RequestedChange<Input, Facts> {
  change: Change<Input, Facts>
  input: Input
  origin: Origin
  /** What `access.gate` returned for the command. If absent, a form was sent, or an alert, and `submit` checks it. */
  requester?: Requester | undefined
  reason: string | undefined
  /** The id of the request that the form was opened to undo. */
  undoes?: string | undefined
  /** The id of the ended request that the form was opened to repeat. */
  repeats?: string | undefined
  fromMessage?: MessageRef | undefined
  alert?: SourceAlert | undefined
  /** The same for every delivery of one command or form, so that it becomes one request. */
  deliveryKey: string
}

interface Content<Input, Facts> {
  input: Input
  facts: Facts
}

interface Requested<Input, Facts> extends Content<Input, Facts> {
  change: Pick<Change<Input, Facts>, 'kind' | 'items'>
}

export interface Earlier {
  undone?: Request | undefined
  repeated?: Request | undefined
}

/**
 * Reads the requests that a new one undoes or repeats, as its form was opened for them. Finds none if the new one does something else: the person
 * can change every field of the form. A request for only some of the items still counts.
 */
export async function findEarlier<Input, Facts>(
  app: App,
  { undoes, repeats }: Pick<RequestedChange<Input, Facts>, 'undoes' | 'repeats'>,
  requested: Requested<Input, Facts>,
): Promise<Earlier> {
  const [undone, repeated] = await Promise.all([
    findOne(app, undoes, requested, (request) => backOf(app, request)),
    findOne(app, repeats, requested, (request) => (isOpen(request.state) ? undefined : app.catalog.openIfFit(request))),
  ])
  return { undone, repeated }
}

/** `wanted` returns what the new request must do to belong to the earlier one. */
async function findOne<Input, Facts>(
  { store }: App,
  id: string | undefined,
  requested: Requested<Input, Facts>,
  wanted: (request: Request) => Content<unknown, unknown> | undefined,
): Promise<Request | undefined> {
  const request = id === undefined ? undefined : await store.find(id)
  if (request?.kind !== requested.change.kind || request.cardTs === undefined) return undefined
  const content = wanted(request)
  return content && isPartOf(content as Content<Input, Facts>, requested) ? request : undefined
}

function backOf({ catalog }: App, request: Request): Content<unknown, unknown> | undefined {
  const opened = canReverse(request) ? catalog.openIfFit(request) : undefined
  return opened?.change.reverse?.(doneInput(request, opened.change, opened.input), opened.latest)
}

function isPartOf<Input, Facts>(whole: Content<Input, Facts>, { change: { items }, input, facts }: Requested<Input, Facts>): boolean {
  if (!items) return canonicalJson(whole.input) === canonicalJson(input)
  const known = new Set(items.of(whole.facts).map(({ id }) => id))
  const ids = items.of(facts).map(({ id }) => id)
  const narrowed = (one: Input) => canonicalJson(items.narrow(one, ids))
  return ids.every((id) => known.has(id)) && narrowed(whole.input) === narrowed(input)
}

interface ToChange {
  resource: string
  subject: string
  others: string[]
  /** What people call those, by resource. */
  names: ReadonlyMap<string, string>
}

/**
 * Finds what was done earlier to the resources of a new request, so that approvers know of it: how the repeated request ended, and the last changes.
 * A record that somebody changed is left out.
 */
export async function historyBefore(app: App, now: number, changed: ToChange, { undone, repeated }: Earlier): Promise<Finding[]> {
  const earlierEnd = repeated && isGenuine(app, repeated) ? earlierEndOf(repeated, now) : undefined
  // A request that undoes or repeats the last change names it elsewhere.
  const isNamed = (id: string) => id === undone?.id || id === repeated?.id
  const last = await lastChangesBefore(app, now, changed)
  return [...(earlierEnd ? [earlierEnd] : []), ...listed(last.filter(({ requestId }) => !isNamed(requestId)))]
}

/**
 * Returns the last change of the resource, and those of the other resources in the past 24 hours, the newest first. Somebody may still be at work
 * on each of them.
 */
async function lastChangesBefore(app: App, now: number, { resource, subject, others, names }: ToChange): Promise<LastChange[]> {
  const last = await app.store.lastChangesOf([...new Set([resource, ...others])])
  const byRequest = Map.groupBy(last.keys(), (each) => last.get(each))
  const found = [...byRequest].flatMap(([request, resources]) => {
    if (request?.endedAt === undefined || !isGenuine(app, request)) return []
    const isOwn = resources.includes(resource)
    const change = lastChangeOf(request, now, isOwn ? [subject] : namesOf(resources, { subject, names }))
    return isOwn || isRecent(change) ? [change] : []
  })
  const [newest, ...older] = found.toSorted((a, b) => a.agoMs - b.agoMs)
  // Only its evacuations lock a server. Moves of its addresses since then have changed it later.
  return newest
    ? [newest, ...older.map((change) => (change.names.includes(subject) && others.length > 0 ? { ...change, isOlder: true } : change))]
    : []
}

function isGenuine({ signatures }: App, request: Request): boolean {
  return signatures.verifyRecord(request) === 'genuine'
}

/** A resource without a name, such as a key label, gets the name of the subject. */
function namesOf(resources: string[], { subject, names }: Pick<ToChange, 'subject' | 'names'>): string[] {
  return [...new Set(resources.map((each) => names.get(each) ?? subject))]
}

const mostListed = 3

function listed(changes: LastChange[]): Finding[] {
  const [recent, older] = [changes.filter(isRecent), changes.filter((change) => !isRecent(change))]
  const count = recent.slice(mostListed).flatMap(({ names }) => names).length
  return [...recent.slice(0, mostListed), ...(count > 0 ? [{ code: 'more-changes', count } satisfies MoreChanges] : []), ...older]
}
