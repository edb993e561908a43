import { describe, expect, onTestFinished, test, vi } from 'vitest'
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
import { clockAheadOfRedisMs, findRedisFaults, type RedisFault } from '../../src/redis/connections.ts'
import { clockProblem, statusChecks } from '../../src/start/status.ts'
import { fakeApp } from '../fake-app.ts'
import { expectDocument } from '../messages/documents.ts'

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

/** Creates the page of a bot that is well, apart from these parts. */
function arrangeApp({
  faults = async () => [],
  refuses,
  account = [],
  slack = async () => {},
  workers = 1,
  aheadMs = 0,
  appToken,
  isWrong = false,
}: {
  faults?: () => Promise<RedisFault[]>
  refuses?: string
  account?: Error[]
  slack?: () => Promise<void>
  workers?: number
  aheadMs?: number
  appToken?: Secret
  isWrong?: boolean
} = {}) {
  const app = fakeApp({
    connections: { faults, probeWrites: async () => writeRefusalOf(refuses), problem: () => 'ECONNREFUSED' },
    store: {
      now: async () => Date.now() - aheadMs,
      isBusy: async () => false,
      sinceLastTickMs: async () => 0,
      workersSeen: async () => workers,
    },
    queues: { pollIntervalMs: 3_000 },
    slack: { identity: { fetch: slack as never }, signature: { isWrong } },
    account: {
      apiKeys: {
        list: async () => {
          const error = account.shift()
          if (error) throw error
          return []
        },
      },
    },
    config: { role: 'all', slack: { appToken }, redis: { allowVolatile: false, prefix: 'test' }, infra: { key: new Secret('k') } },
  })
  return arrange(statusChecks(app))
}

test('the status page says what is wrong with Redis or the account, and what nobody knows because of it', async () => {
  const away = (code?: string) => ({ faults: () => Promise.reject(new StoreUnavailableError("can't run the 'info' command", code)) })
  const account = (error: Error) => ({ account: [error] })
  const of = { operation: 'x', codes: [] as string[], requestSent: 'no' as const, problem: 'ECONNREFUSED' }
  const apps = {
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
    expect(await problemOf({})).toBe('the clock is 10\u00a0min ahead of Slack, so requests from Slack are refused')
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

describe('the limit of the account', () => {
  const limit = (answered: boolean) => new AccountLimitError({ operation: 'x', kind: 'read', waitMs: 900, perMinute: 60, answered })
  const note = /^Not checked, because of the account's limit of 60 reads a minute\. A read is free at 20\d\d-\S+Z$/

  test('is no outage, and the page names it with the time', async () => {
    const { status, body } = await arrangeApp({ account: [limit(false)] }).read()

    expect([status, body.checks.accountApi]).toEqual([200, { ok: true, note: expect.stringMatching(note) }])
  })

  test('does not hide an outage while nothing is asked', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { read } = arrangeApp({
      account: [new ApiUnreachableError({ operation: 'x', requestSent: 'no', problem: 'ECONNREFUSED' }), limit(false)],
    })
    expect((await read()).body.checks.accountApi.ok).toBe(false)
    vi.setSystemTime(Date.now() + 61_000)
    expect((await read()).body.checks.accountApi.problem).toBe("The account API isn't responding")
  })
})

test('the status page asks Slack once in 30 s and the account once a minute, however often it is read', async () => {
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
