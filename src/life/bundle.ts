import { setTimeout as pause } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { App } from '../app.ts'
import { childIdOf, type ItemState, idOfResource, isItemOpen, isItemUnderway, type Request } from '../domain/request.ts'
import { show } from '../outbox/outbox.ts'
import type { Opened } from '../record/catalog.ts'
import { createChildren } from '../record/children.ts'
import { guardStore } from '../redis/connect.ts'
import { checkRecord, distrust, findSendsAndEnds } from './authority.ts'
import type { PreflightResult } from './may-write-now.ts'
import { type ForChild, preflightValidMs, readAccount, repeatPreflight, send } from './send.ts'

const parallelWrites = 5

/** How often a child tries to be sent while as many others are being sent as may be. Then the next pass goes on. */
const fullRetry = { everyMs: 250, times: 8 }

/** When a parent is looked at again whose children wait, or are under way. Each step of a child makes it due at once. */
const lookAgainMs = { waiting: 10_000, underway: 60_000 }

/** Creates, sends and ends children. Safe in several processes at once, and after a crash. In one process, calls share one pass. */
export function createBundles(app: App) {
  const passes = new Map<string, Promise<void>>()

  /** `beganAt`: when this process read the account before. Not from the record, where somebody could make an old read look fresh. */
  return function carryOn(id: string, beganAt?: number): Promise<void> {
    const pass = passes.get(id) ?? carryOnOnce(app, id, beganAt).finally(() => passes.delete(id))
    passes.set(id, pass)
    return pass
  }
}
export type CarryOn = ReturnType<typeof createBundles>

async function carryOnOnce(app: App, id: string, beganAt: number | undefined): Promise<void> {
  const { store } = app
  const parent = await store.find(id)
  if (parent?.state !== 'tracking' || !parent.items) return
  const problem = checkRecord(app, parent)
  if (problem) return distrust(app, parent, problem)
  await createChildren(app, parent)
  await wakeUnderway(app, parent)
  await sendWaiting(app, parent, beganAt)
  await endIfOver(app, id)
  const now = await store.find(id)
  if (now)
    await store.postponeIfUnchanged(now, now.items?.some(({ state }) => state === 'waiting') ? lookAgainMs.waiting : lookAgainMs.underway)
}

/** Lets children under way be tracked that are not due, as after the tracking of their parent was stopped. */
async function wakeUnderway({ redis, keys, store }: App, { id, moreResources, items = [] }: Request): Promise<void> {
  const ids = moreResources.filter((_, index) => items[index] && isItemUnderway(items[index])).map((resource) => childIdOf(id, resource))
  if (ids.length === 0) return
  const now = await store.now()
  await guardStore(() => redis.zadd(keys.due, 'NX', ...ids.flatMap((child) => [now, child])))
}

/** Sends the children that wait, in the order of the message, until one has to wait for its turn or for the account. */
async function sendWaiting(app: App, parent: Request, beganAt: number | undefined): Promise<void> {
  const waiting = new Set(parent.items?.filter(({ state }) => state === 'waiting').map(({ id }) => id))
  if (waiting.size === 0) return
  const read = createRead(app, app.catalog.open(parent), waiting, beganAt)
  const siblings = parent.moreResources.map((resource) => childIdOf(parent.id, resource))
  let found: ReturnType<typeof findSendsAndEnds> | undefined
  const earlier = () => {
    found ??= findSendsAndEnds(app, parent)
    return found
  }
  const limit = pLimit(parallelWrites)
  let mustWait = false

  async function sendItem(item: string, childId: string): Promise<void> {
    for (let attempt = 0; attempt < fullRetry.times && !mustWait; attempt += 1) {
      if (attempt > 0) await pause(fullRetry.everyMs)
      if (await isFull(app, siblings)) continue
      const child = await app.store.find(childId)
      if (child?.state !== 'approved') return
      const asChild: ForChild = {
        read: () => read(item, app.catalog.open(child)),
        isFull: () => isFull(app, siblings),
        earlier,
        parent,
        beside: { ids: siblings.filter((each) => each !== childId), most: parallelWrites, withinMs: preflightValidMs },
      }
      const result = await send(app, child, asChild)
      waiting.delete(item)
      if (result === 'waits') mustWait = true
      if (result !== 'full') return
    }
    mustWait = true
  }

  await Promise.all(
    parent.moreResources.flatMap((resource, index) => {
      const item = idOfResource(resource)
      return waiting.has(item) ? [limit(() => sendItem(item, siblings[index] ?? ''))] : []
    }),
  )
}

/** Whether as many writes are under way as may be. Another process may be sending other children. The step itself decides. */
async function isFull({ redis, keys, store }: App, siblings: string[]): Promise<boolean> {
  const now = await store.now()
  const read = () => Promise.all(siblings.map((id) => redis.hmget(keys.record(id), 'state', 'sentAt')))
  const sent = (await guardStore(read)).filter(([state, sentAt]) => state === '"starting"' && now - Number(sentAt) < preflightValidMs)
  return sent.length >= parallelWrites
}

const freshMs = 10_000

interface Reading {
  startedAt: number
  /** Returns undefined for a child that was not read. */
  of(item: string): PreflightResult | undefined
}

/** Creates the read of one pass: all children that wait are read together, and one reading serves all that are sent within 10 s of it. */
function createRead(app: App, opened: Opened, waiting: ReadonlySet<string>, beganAt = 0) {
  const { change, facts } = opened
  const comparing = (latest: unknown): Reading['of'] => {
    const leftOut = change.items?.leftOut(facts, latest)
    const read = new Map(change.items?.of(latest).map(({ id, facts: now }) => [id, now]))
    return (item) => {
      const causes = leftOut?.get(item)
      if (causes) return { is: 'changed', causes }
      return read.has(item) ? { is: 'unchanged', facts: read.get(item) } : undefined
    }
  }
  let last: Promise<Reading> = Promise.resolve({ startedAt: beganAt, of: comparing(opened.latest) })

  async function readAll(startedAt: number): Promise<Reading> {
    const input = change.items?.narrow(opened.input, [...waiting])
    const result = await readAccount(app, { change, input, facts })
    if (result.is !== 'unchanged') return { startedAt, of: () => result }
    return { startedAt, of: comparing(change.complete?.(facts, result.facts) ?? result.facts) }
  }

  return async function read(item: string, child: Opened): Promise<{ result: PreflightResult; at: number }> {
    const now = await app.store.now()
    const known = last
    if (now - (await known).startedAt > freshMs && last === known) {
      last = readAll(now)
      // The next child tries again.
      last.catch(() => (last = known))
    }
    const reading = await last
    const result = reading.of(item)
    return result ? { result, at: reading.startedAt } : { result: await repeatPreflight(app, child), at: now }
  }
}

/** Ends a request whose children have all ended, and reports it as late with the first of them. Safe to repeat. */
export async function endIfOver(app: App, id: string): Promise<void> {
  const parent = await app.store.find(id)
  if (parent?.state !== 'tracking' || !parent.items) return
  const problem = checkRecord(app, parent)
  if (problem) return distrust(app, parent, problem)
  const { items, unansweredSince, slowAt, slowAfterMs = Number.POSITIVE_INFINITY } = parent
  const slowIfBefore = (await app.store.now()) - slowAfterMs
  const all = (state: ItemState) => items.every((item) => item.state === state)
  if (!items.some(isItemOpen))
    await app.store.take(parent, all('done') ? 'finish' : all('superseded') ? 'supersede' : 'fail', { set: { unansweredSince } })
  else if (parent.lateAt === undefined && items.some(({ lateAt, endedAt }) => lateAt !== undefined && endedAt === undefined))
    await app.store.take(parent, 'late', { dueInMs: 0 })
  else if (slowAt === undefined && items.some((item) => isItemUnderway(item) && Number(item.sentAt) <= slowIfBefore)) {
    // While the account API does not answer, they may have ended before.
    if ((await guardStore(() => app.redis.exists(app.keys.silence))) === 1) return
    await app.store.take(parent, 'slow', { dueInMs: 0 })
  } else return
  await show(app, id)
}
