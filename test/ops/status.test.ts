import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  AccountLimitError,
  ApiContractError,
  ApiError,
  ApiUnreachableError,
  StoreUnavailableError,
  writeRefusalOf,
} from '../../src/domain/errors.ts'
import type { Request } from '../../src/domain/request.ts'
import { createRequestSignatures } from '../../src/domain/request-signature.ts'
import { createKeyring, Secret } from '../../src/domain/signing.ts'
import { type Check, createStatus } from '../../src/ops/health.ts'
import { createMetrics } from '../../src/ops/metrics.ts'
import type { FreezeNow } from '../../src/record/freeze.ts'
import { clockAheadOfRedisMs, findRedisFaults, type RedisFault } from '../../src/redis/connections.ts'
import { seal } from '../../src/redis/sealed.ts'
import { clockProblem, statusChecks } from '../../src/start/status.ts'
import { fakeApp, notFrozen } from '../fake-app.ts'
import { connectTestRedis } from '../given/redis.ts'
import { requestFor } from '../given/request.ts'
import { approvedBy, secretsOf } from '../given/signatures.ts'
import { expectDocument } from '../messages/documents.ts'
import { wholeList } from '../whole-list.ts'

const ringOf = (stateKeys: string, purpose: 'requests' | 'records') => createKeyring(secretsOf(stateKeys), { purpose, prefix: 'test' })

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

test('the status page shows since when a problem lasts, whatever its code is, and logs its beginning and its end once', async () => {
  const away = 'Slack does not answer'
  const problems: (string | undefined)[] = [away, `${away} (ECONNRESET)`, 'Slack rejects the token', undefined, away]
  const { read, pass, entries } = arrange({
    slack: async () => {
      const problem = problems.shift()
      if (problem) throw new Error(problem)
    },
  })

  const shown = []
  for (let time = 0; time < 5; time += 1) {
    shown.push((await read()).body.checks.slack)
    pass(60_000)
  }

  expect(shown).toEqual([
    { ok: false, problem: 'Slack does not answer', since: '2026-11-02T03:00:00.000Z' },
    { ok: false, problem: 'Slack does not answer (ECONNRESET)', since: '2026-11-02T03:00:00.000Z' },
    { ok: false, problem: 'Slack rejects the token', since: '2026-11-02T03:02:00.000Z' },
    { ok: true },
    { ok: false, problem: 'Slack does not answer', since: '2026-11-02T03:04:00.000Z' },
  ])
  expect(entries).toEqual([
    [{ code: 'check-failed', check: 'slack', problem: 'Slack does not answer' }, 'A check failed'],
    [{ code: 'check-failed', check: 'slack', problem: 'Slack rejects the token' }, 'A check failed'],
    [{ check: 'slack', afterMs: 60_000 }, 'A check passes again'],
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

/** Creates the page of a bot that is well, apart from these parts. `account`: how the next checks of the account API fail; undefined: not at all. */
function arrangeApp({
  faults = async () => [],
  refuses,
  account = [],
  shared = connectTestRedis(),
  slack = async () => {},
  workers = 1,
  aheadMs = 0,
  appToken,
  isWrong = false,
  stateKeys = 's'.repeat(32),
  requests = [],
  frozen,
}: {
  faults?: () => Promise<RedisFault[]>
  refuses?: string
  account?: (Error | undefined)[]
  shared?: ReturnType<typeof connectTestRedis>
  slack?: () => Promise<void>
  workers?: number
  aheadMs?: number
  appToken?: Secret
  isWrong?: boolean
  stateKeys?: string
  requests?: Request[]
  frozen?: FreezeNow
} = {}) {
  const { redis, keys } = shared
  const metrics = createMetrics()
  const asked: unknown[] = []
  const app = fakeApp({
    freezes: { read: async () => frozen ?? notFrozen.freezes.read() },
    redis,
    keys,
    metrics,
    connections: { faults, probeWrites: async () => writeRefusalOf(refuses), problem: () => 'ECONNREFUSED' },
    store: {
      now: async () => Date.now() - aheadMs,
      isOverdue: async () => false,
      sinceLastTickMs: async () => 0,
      workersSeen: async () => workers,
      findOpen: async () => ({ requests, unreadable: 0 }),
    },
    queues: { pollIntervalMs: 3_000 },
    recordKeyring: ringOf(stateKeys, 'records'),
    slack: { identity: { fetch: slack as never }, signature: { isWrong } },
    account: {
      apiKeys: {
        list: async (options) => {
          asked.push(options?.tries)
          const error = account.shift()
          if (error instanceof AccountLimitError) throw error
          metrics.apiCall('apiKeys.list', error ? 'unreachable' : 200, 1)
          if (error) throw error
          return wholeList([])
        },
      },
    },
    config: {
      role: 'all',
      slack: { appToken },
      signingSecrets: secretsOf(stateKeys),
      redis: { allowVolatile: false, prefix: 'test' },
      infra: { key: new Secret('k') },
    },
  })
  const { read } = arrange(statusChecks(app))
  const readAccount = async () => (await read()).body.checks.accountApi
  /** As after 50 s: the check is due again. */
  const due = () => redis.del(keys.accountCheck.turn)
  const turnMs = () => redis.pttl(keys.accountCheck.turn)
  return { read, readAccount, due, turnMs, metrics, asked }
}

test('the status page says what still needs an older STATE_KEY', async () => {
  const [older, newer] = ['an-older-key-for-tests-of-32-chars', 'a-newer-key-for-tests-of-32-chars']
  const shared = connectTestRedis()
  const end = { keyId: 'tok_1', label: 'ci', requester: 'U0ADA00001', request: '1f2e3d4c5b6a', createdAt: 1, end: 2, since: 1 }
  await shared.redis.hset(shared.keys.keyEnds, 'tok_1', seal(ringOf(older, 'records'), 'key-end', end))
  await shared.redis.set(shared.keys.outside, seal(ringOf(older, 'records'), 'outside', { lists: {} }))
  const frozen = {
    text: seal(ringOf(older, 'records'), 'freeze', {}),
    record: undefined,
    freezes: [],
    isUnreadable: false,
  }
  const requests = [older, newer].map((key) => approvedBy(createRequestSignatures(ringOf(key, 'requests')), requestFor(), []))
  const noteWith = async (stateKeys: string) => {
    const { read } = arrangeApp({ shared, stateKeys, requests, frozen })
    return (await read()).body.checks.stateKey
  }
  const note = 'Signed with an older key: open requests 1, ends of keys 1, other records 2. Keep that key in STATE_KEY until all are 0'
  expect(await noteWith(`${newer},${older}`)).toEqual({ ok: true, note })
  expect(await noteWith(newer)).toEqual({ ok: true })
})

test('the status page says what is wrong with Redis or the account, and what nobody knows because of it', async () => {
  const away = (code?: string) => ({ faults: () => Promise.reject(new StoreUnavailableError("can't run the 'info' command", code)) })
  const account = (error: Error) => ({ account: [error] })
  const of = { operation: 'x', codes: [] as string[], requestSent: 'no' as const, problem: 'ECONNREFUSED' }
  const otherKey = connectTestRedis()
  await otherKey.redis.set(otherKey.keys.signingKeyMark, '0badc0de')
  const apps = {
    'another process has another STATE_KEY': { shared: otherKey },
    'Redis is silent': away(),
    'Redis lacks a right': away('NOPERM'),
    'Redis refuses writes': { refuses: 'OOM' },
    'Redis is unsafe, and no worker runs': {
      faults: async () => findRedisFaults(['redis_version:7.2.4\nmaxmemory_policy:allkeys-lru\naof_enabled:0']),
      workers: 0,
    },
    'the account rejects the key': account(new ApiError({ ...of, status: 401 })),
    'the account fails': account(new ApiError({ ...of, status: 503 })),
    'the account returns something unreadable': account(new ApiContractError({ ...of, status: 200 })),
    'the account does not answer': account(new ApiUnreachableError(of)),
    'the signing secret is wrong': { isWrong: true },
    'the clock is 40 s behind': { aheadMs: -40_000 },
    'the clock is 10 minutes ahead, over Socket Mode': { aheadMs: 600_000, appToken: new Secret('xapp-1') },
  }
  const situations = await Promise.all(
    Object.entries(apps).map(async ([name, app]): Promise<[string, string]> => {
      const { status, body } = await arrangeApp(app).read()
      const problems = Object.entries<{ problem?: string }>(body.checks).flatMap(([check, { problem }]) =>
        problem ? [`${check}: ${problem}`] : [],
      )
      return [name, [status, ...problems].join('\n')]
    }),
  )

  await expectDocument('status.md', 'What the page /status says', situations)
})

test('what the round trip to Redis can explain is no wrong clock', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 100_000 })
  onTestFinished(() => void vi.useRealTimers())
  const answered = (at: number) => ({
    store: {
      async now() {
        vi.setSystemTime(140_000)
        return at
      },
    },
  })
  const ahead = (at: number) => {
    vi.setSystemTime(100_000)
    return clockAheadOfRedisMs(fakeApp(answered(at)))
  }
  expect([await ahead(100_000), await ahead(139_000), await ahead(90_000), await ahead(141_000)]).toEqual([0, 0, 10_000, -1_000])
})

describe('readiness', () => {
  const problemOf = ({
    redisMs = 600_000,
    slackMs = 600_000,
    config = {},
  }: {
    redisMs?: number
    slackMs?: number | Error
    config?: object
  }) =>
    clockProblem(
      fakeApp({
        config: { role: 'web', slack: { appToken: undefined }, ...config },
        store: { now: async () => Date.now() - redisMs },
        slack: {
          probe: {
            async clockAheadMs() {
              if (slackMs instanceof Error) throw slackMs
              return slackMs
            },
          },
        },
      }),
    )

  test('ends where the clock is wrong by more than 5 minutes, as Redis and Slack say', async () => {
    expect(await problemOf({})).toContain(
      "Lockkeeper's host is 10\u00a0min ahead of Slack (at 5 min, Lockkeeper refuses requests from Slack).",
    )
    expect(await problemOf({ redisMs: 290_000 })).toBeUndefined()
  })

  test('stays while only Redis has another time, which is the same for all replicas, or Slack is away', async () => {
    expect(await problemOf({ slackMs: 200 })).toBeUndefined()
    expect(await problemOf({ slackMs: new TypeError('fetch failed') })).toBeUndefined()
  })

  test.each([{ role: 'worker' }, { slack: { appToken: new Secret('xapp-1') } }])(
    'stays with %j, which gets no signed requests',
    async (config) => {
      expect(await problemOf({ config })).toBeUndefined()
    },
  )
})

describe('the check of the account API', () => {
  const limit = () => new AccountLimitError({ operation: 'x', kind: 'read', waitMs: 900, perMinute: 60, answered: false })
  const away = () => new ApiUnreachableError({ operation: 'x', requestSent: 'no', problem: 'ECONNREFUSED' })
  const isAway = {
    ok: false,
    problem: expect.stringContaining('Not reachable: connection refused (ECONNREFUSED).'),
    since: expect.any(String),
  }

  function arrangeTwo(first: (Error | undefined)[], second: (Error | undefined)[] = []) {
    const shared = connectTestRedis()
    return [arrangeApp({ shared, account: first }), arrangeApp({ shared, account: second })] as const
  }

  test('is made by the process that is asked first, for all, and is sent once', async () => {
    const [first, second] = arrangeTwo([away()])

    expect([await first.readAccount(), await second.readAccount(), await first.readAccount()]).toEqual([isAway, isAway, isAway])
    expect([first.asked, second.asked]).toEqual([[1], []])

    await second.due()
    expect(await second.readAccount()).toEqual({ ok: true })
    // Its own last check failed, so it asks once for itself.
    expect(await first.readAccount()).toEqual({ ok: true })
    expect([first.asked, second.asked]).toEqual([[1, 1], [1]])
  })

  test('fails where the own calls fail, although others succeed and no read is free', async () => {
    const [first, second] = arrangeTwo([], [limit()])
    expect(await first.readAccount()).toEqual({ ok: true })
    second.metrics.apiCall('elasticIps.get', 503, 10)

    expect(await second.readAccount()).toMatchObject({ ok: false, problem: expect.stringContaining('Returned an error (503).') })
    second.metrics.apiCall('elasticIps.get', 200, 10)
    expect(await second.readAccount()).toEqual({ ok: true })
  })

  test('says for how long nothing was checked, because no read was free, and keeps what was found before', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { readAccount, due, turnMs } = arrangeApp({ account: [limit(), undefined, limit(), away(), limit()] })
    const later = async () => {
      vi.setSystemTime(Date.now() + 61_000)
      await due()
      return readAccount()
    }

    expect(await readAccount()).toEqual({ ok: true, note: 'Not checked in the last 10\u00a0min' })
    expect(await turnMs()).toBeLessThanOrEqual(5_000)
    expect(await later()).toEqual({ ok: true })
    expect(await later()).toEqual({ ok: true, note: expect.stringMatching(/^Not checked for 1\u00a0min/) })
    expect(await later()).toEqual(isAway)
    expect(await later()).toEqual(isAway)
  })

  test('makes an outage visible in the metrics of each process, although each checks now and then', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const [first, second] = arrangeTwo([away(), undefined], [away()])
    const failing = async () => {
      const values = await Promise.all([first, second].map(async ({ metrics }) => metrics.registry.getMetricsAsJSON()))
      return values.map(
        (all) =>
          all
            .find(({ name }) => name === 'lockkeeper_calls_failing_seconds')
            ?.values.find(({ labels }: { labels: { service?: string } }) => labels.service === 'account-api')?.value,
      )
    }

    await first.readAccount()
    await second.readAccount()
    vi.advanceTimersByTime(60_000)
    await second.due()
    await second.readAccount()
    await first.readAccount()
    expect(await failing()).toEqual([60, 60])
    vi.advanceTimersByTime(151_000)
    expect(await failing()).toEqual([0, 0])
  })
})

test('the status page asks Slack once in 30 s and the account once in 50 s, however often it is read', async () => {
  let asked = 0
  const account: Error[] = []
  const { read } = arrangeApp({
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
