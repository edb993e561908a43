import type { App } from '../../src/app.ts'
import { createAudit } from '../../src/audit/audit.ts'
import { AuditEntry } from '../../src/audit/chain.ts'
import type { Change } from '../../src/domain/change.ts'
import type { PolicyRule } from '../../src/domain/policy.ts'
import type { Request } from '../../src/domain/request.ts'
import { usualTimings } from '../../src/domain/timings.ts'
import { createRepeatedLines } from '../../src/ops/log.ts'
import { createCatalog } from '../../src/record/catalog.ts'
import { createFreezes } from '../../src/record/freeze.ts'
import { createStore, type TakenStep } from '../../src/record/store.ts'
import { type Fake, fakeApp, noPolicy } from '../fake-app.ts'
import { judging, type People } from './access.ts'
import { auditSigning } from './audit.ts'
import { connectTestRedis } from './redis.ts'
import { ruleFor } from './request.ts'
import { recordKeyring, signatures } from './signatures.ts'
import { takingMessages, wording } from './slack.ts'

/** Creates what the jobs of requests use, over a real Redis with a real audit. `said` records what other parts were told. */
export function startJobs(changes: Change[], { rule = {}, people }: { rule?: Partial<PolicyRule>; people?: Partial<People> } = {}) {
  const { redis, keys } = connectTestRedis()
  const said: string[] = []
  const steps: TakenStep[] = []
  const woken: number[] = []
  const audit = createAudit({ redis, keys, print: () => {}, onError: () => {}, ...auditSigning() })
  const store = createStore({ redis, keys, audit, signatures, onStep: (step) => void steps.push(step) })

  const log = ({ code }: { code?: unknown }) => void said.push(String(code))
  const parts = {
    ...{ redis, keys, store, audit, signatures },
    catalog: createCatalog(changes),
    timings: usualTimings,
    config: {
      ...wording,
      policy: { ...noPolicy, rules: [ruleFor({ changes: changes.map(({ kind }) => kind), ...rule })] },
      movePollIntervalMs: 3_000,
      opsChannel: undefined,
      slack: { command: '/infra' },
    },
    budget: { perMinute: { read: 60, write: 20 }, waitForWrite: async () => 0, takeWrite: async () => 0 },
    queues: { wake: async (_: unknown, ms = 0) => void woken.push(ms) },
    ...takingMessages((name) => said.push(`sends ${name}`)),
    freezes: createFreezes({ redis, keys, audit, store }, recordKeyring),
    lines: createRepeatedLines({ info: log, warn: log, error: log }),
    log: { error: log },
    metrics: {
      error: () => {},
      failing: () => 503,
      requestsLost: () => {},
      reported: () => {},
      notGenuine: (code: string) => void said.push(`distrust ${code}`),
    },
  }

  async function find(id: string): Promise<Request> {
    const request = await store.find(id)
    if (!request) throw new Error(`there is no request ${id}`)
    return request
  }

  /** Returns when a request is due, in ms from now. Undefined if it is not due. */
  async function dueInMs(id: string): Promise<number | undefined> {
    const at = await redis.zscore(keys.due, id)
    return at === null ? undefined : Number(at) - (await store.now())
  }

  /** Returns all entries of the audit, oldest first. */
  async function entries(): Promise<AuditEntry[]> {
    while ((await redis.xlen(keys.auditIntake)) > 0) await audit.tidy()
    return (await redis.xrange(keys.audit, '-', '+')).map(([, [, entry = '']]) => AuditEntry.parse(JSON.parse(entry)))
  }

  function appWith(others: Fake<App>): App {
    return fakeApp(judging({}, people), { ...parts, ...others } as Fake<App>)
  }
  return { app: appWith({}), appWith, redis, keys, store, find, dueInMs, entries, steps, said, woken }
}
