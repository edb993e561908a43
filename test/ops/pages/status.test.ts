import { describe, expect, test } from 'vitest'
import {
  AccountLimitError,
  ApiContractError,
  ApiError,
  ApiUnreachableError,
  StoreUnavailableError,
  writeRefusalOf,
} from '../../../src/domain/errors.ts'
import { type Check, createChecks, createStatus, type Finding } from '../../../src/ops/health.ts'

/** Creates a status page over these checks, with a fake clock. */
function arrange(checks: Record<string, Check>) {
  const entries: unknown[][] = []
  const record = (...entry: unknown[]) => void entries.push(entry)
  let now = Date.parse('2026-11-02T03:00:00.000Z')
  const status = createStatus({ checks, now: () => now, log: { info: record, warn: record } as never })
  const read = async () => {
    const page = await status.page()
    return { status: page.status, body: JSON.parse(page.body) }
  }
  return {
    status,
    entries,
    read,
    pass: (ms: number) => {
      now += ms
    },
  }
}

const safe = async () => []
const takesWrites = async () => undefined

test('the status page is 200 when every check passes', async () => {
  const { read } = arrange({ redis: async () => {}, worker: () => {} })

  expect(await read()).toEqual({ status: 200, body: { ok: true, checks: { redis: { ok: true }, worker: { ok: true } } } })
})

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
    slack: () => {
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

test('a problem that was recorded before lasts since that time', async () => {
  const { status, read, pass } = arrange({
    redis: () => {
      throw new Error("Redis isn't responding")
    },
  })
  status.note('redis', "Redis isn't responding at REDIS_URL")
  pass(60_000)

  expect((await read()).body.checks.redis).toEqual({ ok: false, problem: "Redis isn't responding", since: '2026-11-02T03:00:00.000Z' })
})

describe('a call that succeeds outside of the checks', () => {
  /** Creates a page whose check of Slack gets the results of these probes, one after the other. */
  function arrangeSlack(...probes: (() => Promise<void>)[]) {
    const fine = async () => {}
    const slack = () => (probes.shift() ?? fine)()
    return arrange(createChecks({ redis: fine, probeWrites: takesWrites, redisFaults: safe, slack, accountApi: fine, worker: fine }))
  }

  const lines = [
    [{ code: 'check-failed', check: 'slack', problem: 'Slack does not answer' }, 'A check failed'],
    [{ check: 'slack', afterMs: 0 }, 'A check passes again'],
  ]

  test('ends a problem at once, although the last probe failed a moment ago', async () => {
    const { status, read, entries } = arrangeSlack(() => Promise.reject(new Error('Slack does not answer')))
    await read()

    status.note('slack', undefined)

    expect((await read()).body.checks.slack).toEqual({ ok: true })
    expect(entries).toEqual(lines)
  })

  test('counts, and not the failure of a probe that began before it', async () => {
    const probe = Promise.withResolvers<void>()
    const { status, read, entries } = arrangeSlack(() => probe.promise)
    status.note('slack', 'Slack does not answer')
    const reading = read()
    await Promise.resolve()

    status.note('slack', undefined)
    probe.reject(new Error('Slack does not answer'))

    expect((await reading).body.checks.slack).toEqual({ ok: true })
    expect((await read()).body.checks.slack).toEqual({ ok: true })
    expect(entries).toEqual(lines)
  })

  test('does not hide a probe that fails after it', async () => {
    const { status, read } = arrangeSlack(() => Promise.reject(new Error('Slack does not answer')))

    status.note('slack', undefined)

    expect((await read()).body.checks.slack).toMatchObject({ ok: false, problem: 'Slack does not answer' })
  })
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
  const fine = async () => {}
  const checks = createChecks({
    redis: fine,
    probeWrites: takesWrites,
    redisFaults: safe,
    slack: fine,
    worker: fine,
    accountApi: () => Promise.reject(error),
  })
  const { read } = arrange(checks)

  expect((await read()).body.checks.accountApi).toMatchObject({ ok: false, problem })
})

describe('the limit of the account', () => {
  const limit = (answered: boolean) => new AccountLimitError({ operation: 'x', kind: 'read', waitMs: 40_000, perMinute: 60, answered })

  /** Creates a page whose probes of the account fail like this, one after the other, and shares each finding with the next. */
  function arrangeAccount(...errors: Error[]) {
    const fine = async () => {}
    let found: Finding = {}
    const checks = {
      redis: fine,
      probeWrites: takesWrites,
      redisFaults: safe,
      slack: fine,
      worker: fine,
      accountApi: async () => Promise.reject(errors.shift()),
      shareFinding: async (probe: (before: Finding) => Promise<Finding>) => {
        found = await probe(found)
        return found
      },
    }
    return arrange(createChecks(checks))
  }

  test('is no outage, and the page names it with the time', async () => {
    const { read } = arrangeAccount(limit(false), limit(true))

    for (let time = 0; time < 2; time += 1) {
      const { status, body } = await read()
      expect(status).toBe(200)
      expect(body.checks.accountApi).toEqual({
        ok: true,
        note: expect.stringMatching(/^Not checked, because of the account's limit of 60 reads a minute\. A read is free at 20\d\d-\S+Z$/),
      })
    }
  })

  test('does not hide an outage while no probe is sent, and ends it once the account answers', async () => {
    const away = new ApiUnreachableError({ operation: 'x', requestSent: 'no', problem: 'ECONNREFUSED' })
    const { read } = arrangeAccount(away, limit(false), limit(true))

    expect((await read()).body.checks.accountApi.ok).toBe(false)
    expect((await read()).body.checks.accountApi).toMatchObject({ ok: false, problem: "The account API isn't responding" })
    expect((await read()).body.checks.accountApi).toMatchObject({ ok: true })
  })
})

test.each([
  ['SELF_SIGNED_CERT_IN_CHAIN', "Redis isn't responding (SELF_SIGNED_CERT_IN_CHAIN)"],
  [undefined, "Redis isn't responding"],
])('the status page shows the latest problem of the connection to Redis: %s', async (latest, problem) => {
  const fine = async () => {}
  const away = () => Promise.reject(new Error('ping at redis://default:pw@redis.internal'))
  const { read } = arrange(
    createChecks({
      redis: away,
      redisProblem: () => latest,
      probeWrites: takesWrites,
      redisFaults: safe,
      slack: fine,
      accountApi: fine,
      worker: fine,
    }),
  )

  expect((await read()).body.checks.redis).toMatchObject({ ok: false, problem })
})

test('the status page shows the worker as unknown while Redis does not answer, and otherwise the problem of the worker', async () => {
  const fine = async () => {}
  const errors = [new StoreUnavailableError('Redis: Error x'), new Error('No worker has run for 30 s')]
  const checks = createChecks({
    redis: fine,
    probeWrites: takesWrites,
    redisFaults: safe,
    slack: fine,
    accountApi: fine,
    worker: () => Promise.reject(errors.shift()),
  })
  const { read } = arrange(checks)

  expect((await read()).body.checks.worker.problem).toBe("Unknown while Redis isn't responding")
  expect((await read()).body.checks.worker.problem).toBe('No worker has run for 30 s')
})

test('the status page probes Slack at most every 30 s, however often the page is read', async () => {
  const probes = { redis: 0, slack: 0, accountApi: 0, worker: 0 }
  const count = (name: keyof typeof probes) => async () => {
    probes[name] += 1
  }
  const { read } = arrange(
    createChecks({
      redis: count('redis'),
      probeWrites: takesWrites,
      redisFaults: safe,
      slack: count('slack'),
      accountApi: count('accountApi'),
      worker: count('worker'),
    }),
  )

  for (let time = 0; time < 3; time += 1) await read()

  expect(probes).toEqual({ redis: 3, slack: 1, accountApi: 3, worker: 3 })
})

test('the status page shows the settings with which Redis could lose requests, and not while Redis does not answer', async () => {
  const fine = async () => {}
  const faults = [
    () => Promise.resolve(['Redis evicts keys. Set it to noeviction.', "Redis doesn't write changes to disk. Set appendonly yes."]),
    () => Promise.reject(new StoreUnavailableError('Redis: Error x')),
    safe,
  ]
  const redisFaults = () => (faults.shift() ?? safe)()
  const { read } = arrange(
    createChecks({ redis: fine, probeWrites: takesWrites, redisFaults, slack: fine, accountApi: fine, worker: fine }),
  )

  const pages = [await read(), await read(), await read()]

  expect(pages.map(({ status }) => status)).toEqual([503, 503, 200])
  expect(pages.map(({ body }) => body.checks.redisSettings.problem)).toEqual([
    "Redis evicts keys. Set it to noeviction. Redis doesn't write changes to disk. Set appendonly yes.",
    "Unknown while Redis isn't responding",
    undefined,
  ])
})

test('the status page says that Redis refuses the command if a right is missing, and that nobody knows the rest', async () => {
  const fine = async () => {}
  const noRight = () => Promise.reject(new StoreUnavailableError("Redis: ReplyError NOPERM can't run the 'set' command", 'NOPERM'))
  const noWorker = () => Promise.reject(new Error('No worker has run for 30 s'))
  const parts = { redis: fine, probeWrites: noRight, redisFaults: noRight, slack: fine, accountApi: fine }
  const problemsOf = async (worker: () => Promise<never>) => {
    const { checks } = (await arrange(createChecks({ ...parts, worker })).read()).body
    return [checks.redis.problem, checks.redisSettings.problem, checks.worker.problem]
  }
  const unknown = 'Unknown while Redis refuses the command (NOPERM)'

  expect(await problemsOf(noRight)).toEqual(['Redis refuses the command (NOPERM)', unknown, unknown])
  expect(await problemsOf(noWorker)).toEqual(['Redis refuses the command (NOPERM)', unknown, unknown])
})

test('the status page does not say that Redis is silent while it refuses writes', async () => {
  const fine = async () => {}
  const refused = () => Promise.reject(new StoreUnavailableError('Redis has not been checked yet', 'OOM'))
  const probeWrites = async () => writeRefusalOf('OOM')
  const { read } = arrange(createChecks({ redis: fine, probeWrites, redisFaults: refused, slack: fine, accountApi: fine, worker: refused }))

  const { checks } = (await read()).body

  expect(checks.redisSettings.problem).toBe('Unknown while Redis refuses writes')
  expect(checks.worker.problem).toBe('Unknown while Redis refuses writes')
})

test('the status page says that Redis refuses writes, and that nobody knows whether a worker runs', async () => {
  const fine = async () => {}
  const noWorker = () => Promise.reject(new Error('No worker has run for 30 s'))
  const probeWrites = async () => writeRefusalOf('OOM')
  const { read } = arrange(createChecks({ redis: fine, probeWrites, redisFaults: safe, slack: fine, accountApi: fine, worker: noWorker }))

  const { checks } = (await read()).body

  expect(checks.redis.problem).toBe('Redis refuses writes, because its memory is full (OOM).')
  expect(checks.worker.problem).toBe('Unknown while Redis refuses writes')
  expect(checks.redisSettings.ok).toBe(true)
})
