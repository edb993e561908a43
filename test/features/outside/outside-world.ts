import type { ApiKey, ElasticIp } from '../../../src/account/objects.ts'
import type { App } from '../../../src/app.ts'
import { createAudit } from '../../../src/audit/audit.ts'
import type { List } from '../../../src/domain/list.ts'
import { createKeyring, Secret } from '../../../src/domain/signing.ts'
import { ownChanges } from '../../../src/features/index.ts'
import type { ComparedList } from '../../../src/features/outside/differences.ts'
import { compareAccount, readOutside } from '../../../src/features/outside/record.ts'
import { createStore } from '../../../src/record/store.ts'
import { auditSigning, trusting } from '../../given/audit.ts'
import { outboxApp, sweepAll } from '../../given/outbox-app.ts'
import { connectTestRedis } from '../../given/redis.ts'

export const minute = 60_000
export const ops = 'C0NIGHT001'

export const web1 = { id: 'sv_1', hostname: 'web-1' }
export const web2 = { id: 'sv_2', hostname: 'web-2' }
export const web3 = { id: 'sv_3', hostname: 'web-3' }
export const address = (more: Partial<ElasticIp> = {}): ElasticIp => ({
  ...{ id: 'eip_1', address: '203.0.113.10', status: 'active', mode: 'routed', project: undefined, site: undefined, server: web1 },
  ...more,
})
export const apiKey = (id: string, name: string, more: Partial<ApiKey> = {}) => ({ id, name, ...more }) as ApiKey

const ownKeyring = createKeyring([new Secret('a-key-for-tests-of-32-characters')], { purpose: 'records', prefix: 'lockkeeper' })
export const strangeKeyring = createKeyring([new Secret('another-key-that-nobody-knows-of')], { purpose: 'records', prefix: 'lockkeeper' })

/** An account whose lists a test sets, compared by processes over a real Redis. Time passes when a test lets it. */
export function accountWithOthers() {
  const shared = connectTestRedis()
  const { redis, keys } = shared
  const lists: { elasticIps: ElasticIp[]; apiKeys: ApiKey[] } = { elasticIps: [], apiKeys: [] }
  const world = {
    aheadMs: 0,
    /** How old the shared copies are, in ms. */
    copyAgeMs: 0,
    missing: {} as Partial<List<unknown>>,
    failing: new Set<ComparedList>(),
    reads: [] as string[],
    problems: [] as string[],
  }

  function startProcess({ keyring = ownKeyring, redis: own = redis } = {}) {
    const audit = createAudit({ redis: own, keys, print: () => {}, onError: () => {}, ...auditSigning() })
    const stored = createStore({ redis: own, keys, audit, signatures: trusting })
    const now = async () => (await stored.now()) + world.aheadMs
    const store = { ...stored, now }
    const { app: base, texts, calls } = outboxApp(shared, { opsChannel: ops })
    const read = async (list: ComparedList) => {
      world.reads.push(list)
      if (world.failing.has(list)) throw new Error(`${list} can't be read`)
      return { items: [...lists[list]], isWhole: true, readAt: (await now()) - world.copyAgeMs, ...world.missing }
    }
    /** The operators are told of a problem once, at first. */
    const write: App['lines']['write'] = (line) => {
      const isNew = base.lines.write(line)
      if (isNew && line.fields.code === 'outside-not-trusted') world.problems.push(line.about ?? '')
      return isNew
    }
    const given: Record<string, unknown> = {
      redis: own,
      audit,
      store,
      recordKeyring: keyring,
      lines: { write },
      timings: {},
      config: { ...base.config, watchChanges: true, keyReview: true, slack: { command: '/infra' } },
      lists: { elasticIps: () => read('elasticIps'), apiKeys: () => read('apiKeys') },
      ownLastSlice: 'aaaaa',
    }
    const app = new Proxy(base, { get: (target, name) => (name in given ? given[name as string] : Reflect.get(target, name)) }) as App
    const sweep = () => sweepAll(app)
    const comparing = { tried: new Map(), ownChanges }
    return { app, texts, calls, sweep, store, outside: () => readOutside(app), turn: () => compareAccount(app, comparing) }
  }
  const process = startProcess()

  /** So much time later both lists are compared, and everything that is owed is sent. */
  async function look(ms = minute): Promise<void> {
    world.aheadMs += ms
    for (let count = 0; count < 2; count += 1) {
      await process.turn()
      world.aheadMs += 20
    }
    await process.sweep()
  }

  /** The same, and so much later that what was found is told. */
  async function later(): Promise<void> {
    await look()
    await look(9.5 * minute)
  }

  /** What the operators were told since the last call, without the heading. Requests have messages of their own. */
  function told({ texts } = process): string[] {
    const heading = ':eyes: *Changed outside Lockkeeper*\n•  '
    return texts.splice(0).flatMap((text) => (text.startsWith(heading) ? text.slice(heading.length).split('\n•  ') : []))
  }

  return { ...shared, lists, world, startProcess, look, later, told, ...process }
}
