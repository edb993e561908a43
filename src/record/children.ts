import type { Item, Items } from '../domain/change.ts'
import {
  childIdOf,
  couldStartAt,
  type ItemState,
  idOfResource,
  isGenuine,
  payloadHash,
  type Request,
  type RequestItem,
  requestStates,
  requestVersion,
  Waits,
} from '../domain/request.ts'
import type { RequestSignatures } from '../domain/request-signature.ts'
import { type Redis, readAnswers } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { readScripts, scriptsOf } from '../redis/scripts.ts'
import type { Catalog } from './catalog.ts'

const run = scriptsOf(readScripts(import.meta.url, ['create-children']))

/** What a child does. It follows from what was requested and signed, so it is the same whoever creates the child again. */
function contentOf({ id, origin }: Request, { change }: Items<unknown, unknown>, { input, facts }: Item) {
  const resource = change.resource(input)
  const content = { id: childIdOf(id, resource), kind: change.kind, input, facts, resource, unchecked: [], origin }
  return { ...content, hash: payloadHash(content) }
}

/** Whether a request is a child that its parent lists, with the same content. */
export function isChildOf(app: { catalog: Catalog }, request: Request, parent: Request): boolean {
  const { change, facts } = app.catalog.open(parent)
  const item = change.items?.of(facts).find(({ input }) => change.items?.change.resource(input) === request.resource)
  if (!change.items || !item || !isGenuine(request)) return false
  const { id, hash } = contentOf(parent, change.items, item)
  return request.id === id && request.hash === hash
}

interface Creating {
  redis: Redis
  keys: Keys
  catalog: Catalog
  signatures: RequestSignatures
}

/** Creates the children that do not exist yet, approved with their parent. Safe to repeat. Does nothing if the parent is not tracked. */
export async function createChildren(app: Creating, parent: Request): Promise<void> {
  const { change, facts } = app.catalog.open(parent)
  const { items } = change
  const { id, kind, rule, needsApproval, approvalsNeeded, ttlMs, createdAt, expiresAt } = parent
  const asParent = { version: requestVersion, parent: { id, kind }, rule, needsApproval, approvalsNeeded, ttlMs, createdAt }
  const children = (items?.of(facts) ?? []).map((item) => {
    const child = { ...contentOf(parent, items as Items<unknown, unknown>, item), ...asParent }
    const signature = app.signatures.signRequest({ ...child, reason: undefined, undoes: undefined, repeats: undefined })
    const record = { ...child, signature, expiresAt, decidedAt: couldStartAt(parent) ?? parent.sentAt, state: 'approved' }
    const fields = Object.entries(record).flatMap(([name, value]) => (value === undefined ? [] : [[name, JSON.stringify(value)]]))
    return { id: child.id, fields: Object.fromEntries(fields) }
  })
  const argument = JSON.stringify({ recordPrefix: app.keys.recordPrefix, children })
  await run(app.redis, 'create-children', [app.keys.record(id)], [argument])
}

/** `packed` has the fields of one that has ended. */
const shownFields = ['state', 'packed', 'sentAt', 'acceptedAt', 'lateAt', 'endedAt', 'waits', 'causes'] as const

/** Adds what their own records do not say: the items of those with children, and for those under way, since when nobody has answered. */
export async function withChildren({ redis, keys }: { redis: Redis; keys: Keys }, requests: Request[]): Promise<Request[]> {
  const isUnderway = ({ state }: Request) => state === 'starting' || state === 'tracking'
  if (!requests.some((request) => request.hasChildren || isUnderway(request))) return requests
  const pipeline = redis.pipeline().get(keys.unanswered)
  for (const { id, moreResources } of requests.filter(({ hasChildren }) => hasChildren))
    for (const resource of moreResources) pipeline.hmget(keys.record(childIdOf(id, resource)), ...shownFields)
  const [first, ...children] = await readAnswers(pipeline)
  const since = first ? Number(first) : undefined
  return requests.map((request) => ({
    ...request,
    ...(isUnderway(request) ? { unansweredSince: since } : {}),
    ...(request.hasChildren ? { items: request.moreResources.map((resource) => itemOf(idOfResource(resource), children.shift())) } : {}),
  }))
}

/** A child that is missing was not created yet. What was damaged in Redis is shown as unknown. */
function itemOf(id: string, values: unknown): RequestItem {
  try {
    const found = (values as (string | null)[]).map((value, index) => [shownFields[index], JSON.parse(value ?? 'null') ?? undefined])
    const { packed, ...own } = Object.fromEntries(found.filter(([, value]) => value !== undefined))
    const { state = 'approved', waits, causes = [], ...times } = { ...own, ...packed, state: own.state }
    const { sentAt, acceptedAt, lateAt, endedAt } = times
    return { id, state: itemStateOf(state), sentAt, acceptedAt, lateAt, endedAt, waits: Waits.safeParse(waits).data, causes }
  } catch {
    return { id, state: 'unknown', causes: [] }
  }
}

/** Returns the state of an item by that of its child. A child that was not sent because the account had changed was not started. */
export function itemStateOf(state: string): ItemState {
  if (state === 'approved') return 'waiting'
  if (state === 'voided') return 'not-started'
  const isKnown = requestStates.some((known) => known === state) && !['waiting', 'rejected', 'withdrawn', 'expired'].includes(state)
  return isKnown ? (state as ItemState) : 'unknown'
}
