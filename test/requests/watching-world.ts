import type { AccountEvent, ApiKey, ElasticIp, Plan, Server } from '../../src/account/objects.ts'
import { noteLeftOut } from '../../src/account/resource.ts'
import type { App } from '../../src/app.ts'
import { createAudit } from '../../src/audit/audit.ts'
import type { Denial, Origin } from '../../src/domain/approval.ts'
import { createKeyring, Secret } from '../../src/domain/signing.ts'
import type { Watch, WatchedList } from '../../src/domain/watch.ts'
import { sweepOutbox } from '../../src/outbox/outbox.ts'
import { createStore } from '../../src/requests/store.ts'
import { createWatching, toRow, watchAccount } from '../../src/requests/watching.ts'
import { auditSigning, trusting } from './audit-for-test.ts'
import { outboxApp } from './outbox/outbox-app.ts'
import { connectTestRedis } from './redis-for-test.ts'

export const minute = 60_000
export const ops = 'C0NIGHT001'
export const here = 'C0OPS00001'
export const ada: Origin = { teamId: 'T0NIMBUS01', channelId: here, userId: 'U0ADA00001', command: '/infra' }

export const web1 = { id: 'sv_1', hostname: 'web-1' }
export const web2 = { id: 'sv_2', hostname: 'web-2' }
export const web3 = { id: 'sv_3', hostname: 'web-3' }
export const address = (more: Partial<ElasticIp> = {}): ElasticIp => ({
  ...{ id: 'eip_1', address: '203.0.113.10', status: 'active', mode: 'routed', project: undefined, site: undefined, server: web1 },
  ...more,
})
export const apiKey = (id: string, name: string, more: Partial<ApiKey> = {}) => ({ id, name, ...more }) as ApiKey
export const plan = (inStockSites: string[]) =>
  ({ id: 'plan_1', name: 'vm.tiny', regions: [{ availableSites: ['ASH', 'FRA'], inStockSites, prices: [] }] }) as unknown as Plan

const watchKeyring = createKeyring([new Secret('a-key-for-tests-of-32-characters')], { purpose: 'watches', prefix: 'lockkeeper' })
export const strangeKeyring = createKeyring([new Secret('another-key-that-nobody-knows-of')], { purpose: 'watches', prefix: 'lockkeeper' })

interface Options {
  watchChanges?: boolean
  denials?: Record<string, Denial['code']>
}

/** An account whose lists a test sets, watched by processes over a real Redis. Time passes when a test lets it. */
export function watchedAccount({ watchChanges = false, denials = {} }: Options = {}) {
  const shared = connectTestRedis()
  const { redis, keys } = shared
  const lists: { [List in WatchedList]: unknown[] } = { plans: [], elasticIps: [], servers: [] as Server[], apiKeys: [] }
  const world = {
    aheadMs: 0,
    /** How old the shared copies are, in ms. */
    copyAgeMs: 0,
    missing: {} as object,
    events: [] as AccountEvent[],
    failing: new Set<WatchedList | 'events'>(),
    reads: [] as string[],
    problems: [] as string[],
  }

  function startProcess({ keyring = watchKeyring, redis: own = redis } = {}) {
    const audit = createAudit({ redis: own, keys, print: () => {}, onError: () => {}, ...auditSigning() })
    const stored = createStore({ redis: own, keys, audit, signatures: trusting })
    const now = async () => (await stored.now()) + world.aheadMs
    const store = { ...stored, now }
    const { app: base, texts, calls } = outboxApp(shared, { opsChannel: ops })
    const read = async (list: WatchedList) => {
      world.reads.push(list)
      if (world.failing.has(list)) throw new Error(`${list} can't be read`)
      return noteLeftOut([...lists[list]], { at: (await now()) - world.copyAgeMs, ...world.missing })
    }
    const watching = createWatching({ redis: own, keys, store }, { keyring, onProblem: (problem) => void world.problems.push(problem) })
    const given: Record<string, unknown> = {
      redis: own,
      audit,
      store,
      watching,
      timings: {},
      config: { ...base.config, watchChanges, keyReview: true, slack: { command: '/infra' } },
      lists: Object.fromEntries((Object.keys(lists) as WatchedList[]).map((list) => [list, () => read(list)])),
      account: {
        events: {
          list: async () => {
            world.reads.push('events')
            if (world.failing.has('events')) throw new Error("events can't be read")
            return world.events
          },
        },
      },
      access: {
        judge: async ({ userId }: Origin) => {
          const code = denials[userId]
          return code ? { allowed: false, denial: { code, action: 'use-lockkeeper' } } : { allowed: true, grant: {} }
        },
      },
      directory: { hasBot: async (channelId: string) => channelId !== 'C0GENERAL1' },
      ownLastSlice: 'aaaaa',
    }
    const app = new Proxy(base, { get: (target, name) => (name in given ? given[name as string] : Reflect.get(target, name)) }) as App
    /** Sends what is owed, however long it was to wait. */
    async function sweep(): Promise<void> {
      for (const member of await redis.zrange(keys.outbox, '0', '-1')) await redis.zadd(keys.outbox, 1, member)
      await sweepOutbox(app, () => {})
    }
    return { app, texts, calls, sweep, watching, store, turn: () => watchAccount(app) }
  }
  const process = startProcess()

  /** So much time later, as many turns as there are lists, and everything that is owed is sent. */
  async function later(ms = minute, turns = 1): Promise<void> {
    world.aheadMs += ms
    for (let count = 0; count < turns; count += 1) {
      await process.turn()
      world.aheadMs += 20
    }
    await process.sweep()
  }

  async function watch(list: WatchedList, item: unknown, more: Partial<Watch> = {}): Promise<Watch> {
    const { id, name, facts } = toRow(list, item)
    const at = await process.store.now()
    const added: Watch = { key: `watch of ${id}`, list, id, name, facts, origin: ada, at, until: at + 30 * 24 * 60 * minute, ...more }
    await process.watching.change((before) => ({ next: { ...before, watches: [...before.watches, added] }, messages: [] }))
    return added
  }

  const watches = async () => (await process.watching.read()).watching.watches
  return { ...shared, lists, world, denials, startProcess, later, watch, watches, ...process }
}

/** An event as the account has it. */
export const eventOn = (id: string, email: string, createdAt: number): AccountEvent => ({
  ...{ id: `evt_${id}_${createdAt}`, action: 'update', target: { id, name: undefined } },
  ...{ author: { id: undefined, name: undefined, email }, createdAt: new Date(createdAt).toISOString() },
})
