import { randomBytes } from 'node:crypto'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import {
  AccountLimitError,
  ApiContractError,
  ApiError,
  ApiUnreachableError,
  StoreUnavailableError,
  writeRefusalOf,
} from '../../src/domain/errors.ts'
import { Secret } from '../../src/domain/signing.ts'
import { type Check, createStatus } from '../../src/ops/health.ts'
import { findRedisFaults, type RedisFault } from '../../src/redis/check.ts'
import { closeRedis, connectRedis } from '../../src/redis/connect.ts'
import { createKeys } from '../../src/redis/key-names.ts'
import { statusChecks } from '../../src/start/status.ts'
import { fakeApp } from '../fake-app.ts'

/** Creates a status page over these checks, with a fake clock. */
function arrange(checks: Record<string, Check>) {
  const entries: unknown[][] = []
  const record = (...entry: unknown[]) => void entries.push(entry)
  let now = Date.parse('2026-11-02T03:00:00.000Z')
  const status = createStatus(checks, { info: record, warn: record } as never, () => now)
  const read = async () => {
    const page = await status.page()
    return { status: page.status, body: JSON.parse(page.body) }
  }
  return {
    entries,
    read,
    pass: (ms: number) => {
      now += ms
    },
  }
}

test('the status page is 503 when a check fails, with its sentence and without the details of its error', async () => {
  const { read } = arrange({
    redis: async () => {
      throw Object.assign(new Error("Redis isn't responding at redis://default:pw@redis.internal"), { command: { args: ['pw'] } })
    },
    slack: async () => {},
  })

  expect(await read()).toEqual({
    status: 503,
    body: {
      ok: false,
      checks: {
        redis: { ok: false, problem: "Redis isn't responding at redis://[redacted]@redis.internal", since: '2026-11-02T03:00:00.000Z' },
        slack: { ok: true },
      },
    },
  })
})

test('the status page shows since when a problem lasts, and logs its beginning and its end once', async () => {
  const problems: (string | undefined)[] = ['Slack does not answer', 'Slack rejects the token', undefined, 'Slack does not answer']
  const { read, pass, entries } = arrange({
    slack: async () => {
      const problem = problems.shift()
      if (problem) throw new Error(problem)
    },
  })

  const shown = []
  for (let time = 0; time < 4; time += 1) {
    shown.push((await read()).body.checks.slack)
    pass(60_000)
  }

  expect(shown).toEqual([
    { ok: false, problem: 'Slack does not answer', since: '2026-11-02T03:00:00.000Z' },
    { ok: false, problem: 'Slack rejects the token', since: '2026-11-02T03:00:00.000Z' },
    { ok: true },
    { ok: false, problem: 'Slack does not answer', since: '2026-11-02T03:03:00.000Z' },
  ])
  expect(entries).toEqual([
    [{ code: 'check-failed', check: 'slack', problem: 'Slack does not answer' }, 'A check failed'],
    [{ check: 'slack', afterMs: 120_000 }, 'A check passes again'],
    [{ code: 'check-failed', check: 'slack', problem: 'Slack does not answer' }, 'A check failed'],
  ])
})

test('the status page does not wait for a check that hangs, and does not run it again meanwhile', async () => {
  let runs = 0
  const { read } = arrange({
    redis: () => {
      runs += 1
      return new Promise(() => {})
    },
  })

  const answers = await Promise.all([read(), read(), read()])

  expect(answers.map(({ body }) => body.checks.redis.problem)).toEqual(Array(3).fill('No answer within 2 s'))
  expect(runs).toBe(1)
})

/** Creates the page of a bot that is well, apart from these parts. */
async function arrangeApp({
  faults = async () => [],
  refuses,
  account = [],
  slack = async () => {},
  workers = 1,
}: {
  faults?: () => Promise<RedisFault[]>
  refuses?: string
  account?: Error[]
  slack?: () => Promise<void>
  workers?: number
} = {}) {
  const redis = connectRedis(new Secret(inject('redisUrl')), 'patient', () => {})
  onTestFinished(() => closeRedis(redis))
  const app = fakeApp({
    redis,
    keys: createKeys(`test-${randomBytes(6).toString('hex')}`),
    connections: { faults, probeWrites: async () => writeRefusalOf(refuses), problem: () => 'ECONNREFUSED' },
    store: { now: async () => 0, isBusy: async () => false, sinceLastTickMs: async () => 0, workersSeen: async () => workers },
    queues: { pollIntervalMs: 3_000 },
    slack: { identity: { fetch: slack as never } },
    account: {
      apiKeys: {
        list: async () => {
          const error = account.shift()
          if (error) throw error
          return []
        },
      },
    },
    config: { redis: { allowVolatile: false, prefix: 'test' }, infra: { key: new Secret('k') } },
  })
  const checks = statusChecks(app)
  return { ...arrange(checks), checks }
}

const problemsOf = (checks: Record<string, { problem?: string }>) =>
  Object.entries(checks).flatMap(([name, { problem }]) => (problem ? [`${name}: ${problem}`] : []))

test('the status page says what is wrong with Redis, and what nobody knows because of it', async () => {
  const away = (code?: string) => () => Promise.reject(new StoreUnavailableError("can't run the 'info' command", code))
  const unsafe = async () => findRedisFaults(['redis_version:7.2.4\nmaxmemory_policy:allkeys-lru\naof_enabled:0'])
  const apps = {
    silent: { faults: away() },
    lacksRight: { faults: away('NOPERM') },
    refuses: { refuses: 'OOM' },
    unsafe: { faults: unsafe },
  }
  const found = await Promise.all(
    Object.entries(apps).map(async ([name, app]) => {
      const { status, body } = await (await arrangeApp({ ...app, workers: 0 })).read()
      return [name, status, ...problemsOf(body.checks)]
    }),
  )

  expect(found).toMatchInlineSnapshot(`
    [
      [
        "silent",
        503,
        "redis: Redis isn't responding (ECONNREFUSED)",
        "redisSettings: Unknown while Redis isn't responding",
        "accountApi: Unknown while Redis isn't responding",
        "worker: Unknown while Redis isn't responding",
      ],
      [
        "lacksRight",
        503,
        "redis: Redis refuses the command (NOPERM)",
        "redisSettings: Unknown while Redis refuses the command (NOPERM)",
        "accountApi: Unknown while Redis refuses the command (NOPERM)",
        "worker: Unknown while Redis refuses the command (NOPERM)",
      ],
      [
        "refuses",
        503,
        "redis: Redis refuses writes, because its memory is full (OOM).",
        "redisSettings: Unknown while Redis refuses writes",
        "accountApi: Unknown while Redis refuses writes",
        "worker: Unknown while Redis refuses writes",
      ],
      [
        "unsafe",
        503,
        "redisSettings: Redis evicts keys when its memory is full (maxmemory-policy allkeys-lru). Set it to noeviction. Redis doesn't write changes to disk (appendonly no). Set appendonly yes.",
        "worker: No worker has run for 30 s",
      ],
    ]
  `)
})

test.each<[string, unknown, string]>([
  ['rejects the key', new ApiError({ operation: 'x', status: 401, codes: [] }), 'The account API rejects INFRA_API_KEY (401)'],
  ['fails', new ApiError({ operation: 'x', status: 503, codes: [] }), 'The account API returned an error (503)'],
  [
    'returns something unreadable',
    new ApiContractError({ operation: 'x', status: 200, problem: 'no JSON' }),
    'The account API returned something unreadable (200)',
  ],
  [
    'does not answer',
    new ApiUnreachableError({ operation: 'x', requestSent: 'no', problem: 'ECONNREFUSED' }),
    "The account API isn't responding",
  ],
])('the status page describes the problem of an account API that %s', async (_, error, problem) => {
  const { read } = await arrangeApp({ account: [error as Error] })

  expect((await read()).body.checks.accountApi).toMatchObject({ ok: false, problem })
})

describe('the limit of the account', () => {
  const limit = (answered: boolean) => new AccountLimitError({ operation: 'x', kind: 'read', waitMs: 900, perMinute: 60, answered })
  const note = /^Not checked, because of the account's limit of 60 reads a minute\. A read is free at 20\d\d-\S+Z$/

  test('is no outage, and the page names it with the time', async () => {
    const { status, body } = await (await arrangeApp({ account: [limit(false)] })).read()

    expect([status, body.checks.accountApi]).toEqual([200, { ok: true, note: expect.stringMatching(note) }])
  })

  test('does not hide an outage while nothing is asked', async () => {
    const away = new ApiUnreachableError({ operation: 'x', requestSent: 'no', problem: 'ECONNREFUSED' })
    const before = limit(false)
    const { read, checks } = await arrangeApp({ account: [away, before] })
    expect((await read()).body.checks.accountApi.ok).toBe(false)
    expect(await checks.accountApi().catch((error: Error) => error.message)).toBe("The account API isn't responding")
  })
})

test('the status page asks Slack once in 30 s and the account once a minute, however often it is read', async () => {
  let asked = 0
  const account: Error[] = []
  const { read } = await arrangeApp({
    account,
    async slack() {
      asked += 1
      if (asked === 1) throw new Error('Slack does not answer')
    },
  })

  const statuses = []
  for (let time = 0; time < 3; time += 1) statuses.push((await read()).status)
  account.push(new Error('asked again'))

  // It asks again after a failure, so that the page shows at once that Slack is back.
  expect([...statuses, (await read()).status, asked]).toEqual([503, 200, 200, 200, 2])
})
