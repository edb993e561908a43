import { expect } from 'vitest'
import type { AccountApi } from '../../../../src/account/client.ts'
import type { AuditNote } from '../../../../src/audit/chain.ts'
import type { ElasticIp } from '../../../../src/domain/account.ts'
import { ApiError } from '../../../../src/domain/errors.ts'
import type { WriteTurns } from '../../../../src/domain/lane.ts'
import type { AuthorityProblem, Request } from '../../../../src/domain/request.ts'
import { usualTimings } from '../../../../src/domain/timings.ts'
import { createEvacuation } from '../../../../src/features/ip-evacuate.ts'
import { checkRecord as checkRecordOf, distrust as distrustRequest, type ItemsAllowed } from '../../../../src/requests/authority.ts'
import { createCatalog } from '../../../../src/requests/catalog.ts'
import { createItemSteps, createObserveItem, createSendItems } from '../../../../src/requests/items.ts'
import { createReconcile } from '../../../../src/requests/reconcile.ts'
import { createStore, type Store, type TakenStep } from '../../../../src/requests/store.ts'
import type { Track } from '../../../../src/requests/track.ts'
import { fakeApp, noticing } from '../../../fake-app.ts'
import { noteOf } from '../../audit-for-test.ts'
import { connectTestRedis, noAudit } from '../../redis-for-test.ts'
import { newRequestFor } from '../../request-for-test.ts'
import { signatures, signedBy } from '../../signatures-for-test.ts'
import { takeSteps } from '../../take-steps.ts'

export const from = { id: 'sv_1', name: 'web-1' }
export const to = { id: 'sv_2', name: 'web-2' }

/** An account in memory. A move takes effect at once, and reads show it as active on the target. */
export function accountWith(ids: string[], { writeMs = 0 } = {}) {
  const serverOf = new Map(ids.map((id) => [id, from.id]))
  const writes: string[] = []
  const reads: string[] = []
  const underway = { now: 0, most: 0 }
  const names = new Map([from, to, { id: 'sv_3', name: 'web-3' }].map(({ id, name }) => [id, name]))
  const shown = (id: string): ElasticIp => {
    const serverId = serverOf.get(id)
    if (serverId === undefined) throw new ApiError({ operation: 'elasticIps.get', status: 404, codes: [] })
    return {
      id,
      address: id,
      status: 'active',
      server: { id: serverId, hostname: names.get(serverId) },
      project: { id: 'proj_1' },
      site: { id: undefined, name: undefined, slug: 'ASH' },
    }
  }
  const server = (id: string) => ({
    id,
    hostname: names.get(id),
    label: undefined,
    primaryIpv4: undefined,
    status: 'on',
    locked: false,
    project: { id: 'proj_1' },
    site: { id: undefined, name: undefined, slug: 'ASH' },
  })
  const api = {
    elasticIps: {
      get: async (id: string) => {
        reads.push(id)
        return shown(id)
      },
      list: async () => {
        account.lists += 1
        return [...serverOf.keys()].map(shown)
      },
      move: async (id: string, serverId: string) => {
        writes.push(id)
        underway.now += 1
        underway.most = Math.max(underway.most, underway.now)
        await new Promise((done) => setTimeout(done, writeMs))
        underway.now -= 1
        serverOf.set(id, serverId)
        return shown(id)
      },
    },
    servers: { get: async (id: string) => server(id), list: async () => [] },
  } as unknown as Pick<AccountApi, 'elasticIps' | 'servers'>
  const account = { api, serverOf, writes, reads, underway, lists: 0 }
  return account
}
export type TestAccount = ReturnType<typeof accountWith>

/** Records an evacuation of these addresses that has begun. Returns what creates processes that work on it. */
export async function withBegun(ids: string[], account: TestAccount) {
  const { redis, keys } = connectTestRedis()
  const notes: AuditNote[] = []
  const steps: TakenStep[] = []
  const store = createStore({ redis, keys, audit: noAudit, noteOf, onStep: (step) => void steps.push(step) })
  const change = createEvacuation({ accountApi: account.api, seen: { find: async () => [] } })
  const catalog = createCatalog([change])
  const { facts, input = { serverId: from.id, targetId: to.id } } = await change.preflight(
    { serverId: from.id, targetId: to.id, elasticIpIds: ids },
    {},
  )
  const moreResources = change.moreResources?.(input, facts) ?? []
  const wanted = newRequestFor({ kind: change.kind, input, facts, resource: change.resource(input), moreResources })
  await store.create(signedBy(signatures, wanted))
  const requested = (await store.find(wanted.id)) ?? expect.fail('nothing was requested')
  const items = ids.map((id) => ({ id, state: 'waiting' as const, causes: [] }))
  const seenSignature = signatures.signSeen(requested, facts)
  const begun = await takeSteps(store, requested.id, 'approve', ['begin', { set: { items, seen: facts, seenSignature }, dueInMs: 0 }])
  account.reads.splice(0)
  account.lists = 0

  /** Creates the parts of one process. `over`: a store that fails where a process would end. */
  function startProcess({
    over = {},
    past = new Map(),
    takeWrite = async () => 0,
    forMs = 600_000,
  }: {
    over?: Partial<Store>
    past?: ItemsAllowed['past']
    takeWrite?: WriteTurns['takeWrite']
    forMs?: number
  } = {}) {
    const own = { ...store, ...over }
    const distrusted: string[] = []
    const note = async (noted: AuditNote) => void notes.push(noted)
    const show = async () => {}
    const onDistrusted = (_: Request, { code }: AuthorityProblem) => void distrusted.push(code)
    const app = fakeApp({ signatures, catalog, store: own, audit: { noteCounted: note }, noteOf, show, ...noticing(distrusted) })
    const checkRecord = (request: Request) => checkRecordOf(app, request)
    const distrust = (request: Request, problem: AuthorityProblem) => distrustRequest(app, request, problem)
    const itemSteps = createItemSteps({ store: own, catalog, checkRecord, distrust, show, afterEndMs: 1_000 })
    const onApiError = () => {}
    const sendItems = createSendItems({
      store: own,
      audit: { note },
      noteOf,
      catalog,
      checkRecord,
      distrust,
      checkItems: async () => ({ until: (await store.now()) + forMs, past }),
      itemSteps,
      budget: { takeWrite, waitForWrite: async () => 0, perMinute: { read: 60, write: 20 } },
      wake: async () => {},
      onApiError,
      onDistrusted,
    })
    const observe = createObserveItem({ store: own, catalog, itemSteps, lateAfterMs: 60_000, timings: usualTimings, onApiError })
    return { sendItems, itemSteps, observe, checkRecord, distrust, distrusted }
  }

  async function read(): Promise<Request> {
    const request = await store.find(begun.id)
    if (!request) throw new Error('there is no request')
    return request
  }

  /** Observes every item that is under way, as a tick does. `afterMs`: how long after the writes. */
  async function observeAll(afterMs = 0): Promise<void> {
    const { observe } = startProcess()
    const request = await read()
    const now = (await store.now()) + afterMs
    for (const { id } of request.items ?? []) {
      const current = await read()
      const item = current.items?.find((one) => one.id === id) ?? expect.fail('the item is gone')
      await observe(current, item, now, { signal: AbortSignal.timeout(5_000) })
    }
  }

  /** Does what the request needs now, as a worker that is woken up for it. It observes all items where it tracks some. */
  async function reconcile(): Promise<void> {
    const { sendItems, checkRecord, distrust } = startProcess()
    const track: Track['track'] = async () => observeAll()
    const parts = { store, catalog, checkRecord, distrust, sendItems, track }
    await createReconcile(parts as unknown as Parameters<typeof createReconcile>[0])(begun.id)
  }

  const statesOf = async () => Object.fromEntries(((await read()).items ?? []).map(({ id, state }) => [id, state]))
  return { store, redis, keys, steps, notes, id: begun.id, startProcess, read, observeAll, reconcile, statesOf }
}
