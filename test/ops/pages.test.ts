import { afterEach, describe, expect, it, test } from 'vitest'
import {
  AccountLimitError,
  ApiContractError,
  ApiError,
  ApiUnreachableError,
  StoreUnavailableError,
  writeRefusalOf,
} from '../../src/domain/errors.ts'
import {
  type Check,
  createChecks,
  createMetricsPage,
  createStatus,
  type Finding,
  type Health,
  type Page,
  type Snapshot,
  startHealth,
} from '../../src/ops/health.ts'
import { createMetrics, forgeries, losses, places } from '../../src/ops/metrics.ts'

const open: Health[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((health) => health.close()))
})

interface Options {
  whyNotReady?: () => Promise<string | undefined>
  pages?: Record<string, () => Promise<Page>>
}

async function start({ whyNotReady = async () => undefined, pages = {} }: Options = {}) {
  const health = await startHealth({ port: 0, whyNotReady, pages })
  open.push(health)
  const url = `http://127.0.0.1:${health.port}`
  const read = async (path: string, method = 'GET') => {
    const response = await fetch(`${url}${path}`, { method })
    const text = await response.text()
    return { status: response.status, body: text === '' ? '' : JSON.parse(text) }
  }
  return { read, health }
}

describe('the readiness page', () => {
  it('is 200 when the bot is ready, and 503 with the reason when it is not', async () => {
    let why: string | undefined = 'starting: waiting for Slack'
    const { read } = await start({ whyNotReady: async () => why })

    expect(await read('/readyz?verbose')).toEqual({ status: 503, body: { ready: false, why: 'starting: waiting for Slack' } })
    why = undefined
    expect(await read('/readyz')).toEqual({ status: 200, body: { ready: true } })
  })
})

describe('the operations port', () => {
  it('answers 404 for unknown pages and 405 for other methods than GET and HEAD', async () => {
    const { read } = await start()

    expect(await read('/slack/events', 'POST')).toEqual({ status: 404, body: { error: 'Not found. Pages: /healthz, /readyz.' } })
    expect((await read('/toString')).status).toBe(404)
    expect((await read('/healthz', 'POST')).status).toBe(405)
    expect(await read('/healthz', 'HEAD')).toEqual({ status: 200, body: '' })
  })

  it('serves further pages, and answers 500 when one of them fails', async () => {
    const { read } = await start({
      pages: {
        '/numbers': async () => ({ status: 200, type: 'application/json', body: '[1]' }),
        '/broken': async () => {
          throw new Error('no numbers')
        },
      },
    })

    expect(await read('/numbers')).toEqual({ status: 200, body: [1] })
    expect(await read('/broken')).toEqual({ status: 500, body: { error: 'This page failed. See the log.' } })
  })

  it('rejects with the variable to change when another program uses it', async () => {
    const { health } = await start()

    await expect(startHealth({ port: health.port, whyNotReady: async () => undefined })).rejects.toThrow(
      `OPS_PORT ${health.port} is used by another program.`,
    )
  })
})

describe('the metrics', () => {
  const figures: Snapshot = {
    open: [{ state: 'waiting', kind: 'ip.move', count: 2 }],
    movesInFlight: 3,
    unsent: 1,
    jobs: [{ queue: 'wake-ups', state: 'delayed', count: 4 }],
    lastTickAgeMs: 1_500,
    budget: [{ kind: 'read', lane: 'person', used: 50, waitMs: 31_000 }],
  }

  /** Returns metrics together with their page. */
  function createPaged(options: Omit<Parameters<typeof createMetricsPage>[0], 'registry'>) {
    const metrics = createMetrics()
    return { ...metrics, page: createMetricsPage({ registry: metrics.registry, ...options }) }
  }

  /** Returns the lines of the page about the bot, without those about the process. */
  async function linesOf(metrics: ReturnType<typeof createPaged>): Promise<string[]> {
    const { body } = await metrics.page()
    return body.split('\n').filter((line) => line.startsWith('lockkeeper_'))
  }

  describe('the metrics page', () => {
    test('shows the figures of this process and those that all replicas share', async () => {
      const metrics = createPaged({ snapshot: async () => figures })
      metrics.transition('ip.move', 'done')
      metrics.decision('ip.move', 'approve')
      metrics.apiCall('elasticIps.move', 202, 120)
      metrics.slackCall('chat.update', 'rate-limited', 30)
      metrics.moveEnded('done', 43_000)
      metrics.tick(20)
      metrics.error('jobs')
      metrics.acknowledged('command', 120)
      metrics.writeSent('ip.move', 700)
      metrics.reported('ip.evacuate', -3)
      metrics.requestsLost('set-back')

      const lines = await linesOf(metrics)

      expect(lines).toEqual(
        expect.arrayContaining([
          'lockkeeper_request_transitions_total{kind="ip.move",state="done"} 1',
          'lockkeeper_decisions_total{kind="ip.move",decision="approve"} 1',
          'lockkeeper_account_api_call_duration_seconds_count{operation="elasticIps.move",status="202"} 1',
          'lockkeeper_slack_call_duration_seconds_count{method="chat.update",status="rate-limited"} 1',
          'lockkeeper_move_duration_seconds_bucket{le="60",state="done"} 1',
          'lockkeeper_move_duration_seconds_bucket{le="30",state="done"} 0',
          'lockkeeper_ticks_total 1',
          'lockkeeper_errors_total{where="jobs"} 1',
          'lockkeeper_acknowledgement_duration_seconds_bucket{le="0.25",payload="command"} 1',
          'lockkeeper_write_delay_seconds_bucket{le="1",kind="ip.move"} 1',
          'lockkeeper_report_delay_seconds_bucket{le="0.5",kind="ip.evacuate"} 1',
          'lockkeeper_requests_lost_total{how="set-back"} 1',
          'lockkeeper_requests_open{kind="ip.move",state="waiting"} 2',
          'lockkeeper_moves_in_flight 3',
          'lockkeeper_messages_unsent 1',
          'lockkeeper_queue_jobs{queue="wake-ups",state="delayed"} 4',
          'lockkeeper_last_tick_age_seconds 1.5',
          'lockkeeper_redis_up 1',
        ]),
      )
    })

    test('still shows the figures of this process when Redis does not answer', async () => {
      const metrics = createPaged({ snapshot: () => Promise.reject(new Error('away')) })
      metrics.error('jobs')
      const lines = await linesOf(metrics)
      expect(lines).toContain('lockkeeper_redis_up 0')
      expect(lines).toContain('lockkeeper_errors_total{where="jobs"} 1')
    })

    test('shows no value for unknown figures, neither an old one nor 0', async () => {
      let answer: () => Promise<Snapshot> = async () => figures
      const metrics = createPaged({ snapshot: () => answer(), keepMs: 0 })
      const shared = async () => (await linesOf(metrics)).filter((line) => /_open|in_flight|unsent|queue_jobs|tick_age/.test(line))
      expect(await shared()).toHaveLength(5)

      answer = () => Promise.reject(new Error('away'))
      expect(await shared()).toEqual([])

      answer = async () => ({ ...figures, lastTickAgeMs: undefined })
      expect(await shared()).not.toContainEqual(expect.stringContaining('tick_age'))
      expect(await shared()).toContain('lockkeeper_moves_in_flight 3')
    })

    test('starts each error counter, and each counter of what must never occur, at 0, so that the first one is an increase', async () => {
      const lines = await linesOf(createPaged({ snapshot: async () => figures }))
      for (const how of losses) expect(lines).toContain(`lockkeeper_requests_lost_total{how="${how}"} 0`)
      for (const problem of forgeries) expect(lines).toContain(`lockkeeper_records_not_genuine_total{problem="${problem}"} 0`)
      for (const place of places) expect(lines).toContain(`lockkeeper_errors_total{where="${place}"} 0`)
    })

    test('uses names that follow the conventions of Prometheus, also for the metrics of the process', async () => {
      const metrics = createPaged({ snapshot: async () => figures })
      metrics.error('jobs')
      const families = parsePage((await metrics.page()).body)

      expect(families.filter(({ name }) => name.startsWith('lockkeeper_')).length).toBeGreaterThan(10)
      expect(families.filter(({ name }) => /^(process|nodejs)_/.test(name)).length).toBeGreaterThan(10)
      for (const { name, type, help, samples } of families) {
        expect(help, `${name} has a HELP line`).not.toBe('')
        expect(['counter', 'gauge', 'histogram'], `the type of ${name}`).toContain(type)
        expect(name.endsWith('_total'), `${name} is a ${type}`).toBe(type === 'counter')
        expect(name, 'base units').not.toMatch(/_(ms|milliseconds|minutes|hours|percent|[km]?i?b|kilobytes|megabytes)(_|$)/)
        expect(name, 'suffixes that belong to samples of histograms').not.toMatch(/_(count|sum|bucket)$/)
        if (type === 'histogram') expect(name).toMatch(/_seconds$/)
        const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
        for (const sample of samples) expect(suffixes.map((suffix) => name + suffix)).toContain(sample)
      }
    })
  })

  interface Family {
    name: string
    type: string
    help: string
    /** The names of the samples, without labels and values. */
    samples: string[]
  }

  /** Parses Prometheus' text format strictly: each family has HELP, TYPE and its samples, once and together. Throws on anything else. */
  function parsePage(body: string): Family[] {
    const families: Family[] = []
    for (const line of body.split('\n').filter((each) => each !== '')) {
      const [, help, helpText = ''] = /^# HELP ([a-z_][a-z0-9_]*) ?(.*)$/.exec(line) ?? []
      const [, typed, type = ''] = /^# TYPE ([a-z_][a-z0-9_]*) (\w+)$/.exec(line) ?? []
      const [, sample] = /^([a-z_][a-z0-9_]*)(?:\{[^{}]*\})? (?:[-+]?[\d.]+(?:e[-+]?\d+)?|[+-]Inf|NaN)$/i.exec(line) ?? []
      const last = families.at(-1)
      if (help !== undefined && !families.some(({ name }) => name === help))
        families.push({ name: help, type: '', help: helpText, samples: [] })
      else if (typed !== undefined && last?.name === typed && last.type === '') last.type = type
      else if (sample !== undefined && last?.type && sample.startsWith(last.name)) last.samples.push(sample)
      else throw new Error(`not a line of Prometheus' text format: ${line}`)
    }
    return families
  }
})

describe('the status', () => {
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

  const fine = async () => {}

  /** The checks of a bot in good health, apart from these. */
  const checksWith = (parts: Partial<Parameters<typeof createChecks>[0]>) =>
    createChecks({
      redis: fine,
      probeWrites: async () => undefined,
      redisFaults: async () => [],
      slack: fine,
      accountApi: fine,
      worker: fine,
      ...parts,
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

  describe('a call that succeeds outside of the checks', () => {
    /** Creates a page whose check of Slack gets the results of these probes, one after the other. */
    function arrangeSlack(...probes: (() => Promise<void>)[]) {
      const slack = () => (probes.shift() ?? fine)()
      return arrange(checksWith({ slack }))
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
    const checks = checksWith({ accountApi: () => Promise.reject(error) })
    const { read } = arrange(checks)

    expect((await read()).body.checks.accountApi).toMatchObject({ ok: false, problem })
  })

  describe('the limit of the account', () => {
    const limit = (answered: boolean) => new AccountLimitError({ operation: 'x', kind: 'read', waitMs: 40_000, perMinute: 60, answered })

    /** Creates a page whose probes of the account fail like this, one after the other, and shares each finding with the next. */
    function arrangeAccount(...errors: Error[]) {
      let found: Finding = {}
      const checks = {
        redis: fine,
        probeWrites: async () => undefined,
        redisFaults: async () => [],
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
    const away = () => Promise.reject(new Error('ping at redis://default:pw@redis.internal'))
    const { read } = arrange(checksWith({ redis: away, redisProblem: () => latest }))

    expect((await read()).body.checks.redis).toMatchObject({ ok: false, problem })
  })

  test('the status page shows the worker as unknown while Redis does not answer, and otherwise the problem of the worker', async () => {
    const errors = [new StoreUnavailableError('Redis: Error x'), new Error('No worker has run for 30 s')]
    const checks = checksWith({ worker: () => Promise.reject(errors.shift()) })
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
      checksWith({ redis: count('redis'), slack: count('slack'), accountApi: count('accountApi'), worker: count('worker') }),
    )

    for (let time = 0; time < 3; time += 1) await read()

    expect(probes).toEqual({ redis: 3, slack: 1, accountApi: 3, worker: 3 })
  })

  test('the status page shows the settings with which Redis could lose requests, and not while Redis does not answer', async () => {
    const faults = [
      () => Promise.resolve(['Redis evicts keys. Set it to noeviction.', "Redis doesn't write changes to disk. Set appendonly yes."]),
      () => Promise.reject(new StoreUnavailableError('Redis: Error x')),
      async () => [],
    ]
    const redisFaults = () => (faults.shift() ?? (async () => []))()
    const { read } = arrange(checksWith({ redisFaults }))

    const pages = [await read(), await read(), await read()]

    expect(pages.map(({ status }) => status)).toEqual([503, 503, 200])
    expect(pages.map(({ body }) => body.checks.redisSettings.problem)).toEqual([
      "Redis evicts keys. Set it to noeviction. Redis doesn't write changes to disk. Set appendonly yes.",
      "Unknown while Redis isn't responding",
      undefined,
    ])
  })

  test('the status page says that Redis refuses the command if a right is missing, and that nobody knows the rest', async () => {
    const noRight = () => Promise.reject(new StoreUnavailableError("Redis: ReplyError NOPERM can't run the 'set' command", 'NOPERM'))
    const noWorker = () => Promise.reject(new Error('No worker has run for 30 s'))
    const parts = { redis: fine, probeWrites: noRight, redisFaults: noRight, slack: fine, accountApi: fine }
    const problemsOf = async (worker: () => Promise<never>) => {
      const { checks } = (await arrange(checksWith({ ...parts, worker })).read()).body
      return [checks.redis.problem, checks.redisSettings.problem, checks.worker.problem]
    }
    const unknown = 'Unknown while Redis refuses the command (NOPERM)'

    expect(await problemsOf(noRight)).toEqual(['Redis refuses the command (NOPERM)', unknown, unknown])
    expect(await problemsOf(noWorker)).toEqual(['Redis refuses the command (NOPERM)', unknown, unknown])
  })

  test('the status page says that Redis refuses writes, and that nobody knows whether a worker runs', async () => {
    const noWorker = () => Promise.reject(new Error('No worker has run for 30 s'))
    const probeWrites = async () => writeRefusalOf('OOM')
    const { read } = arrange(checksWith({ probeWrites, worker: noWorker }))

    const { checks } = (await read()).body

    expect(checks.redis.problem).toBe('Redis refuses writes, because its memory is full (OOM).')
    expect(checks.worker.problem).toBe('Unknown while Redis refuses writes')
    expect(checks.redisSettings.ok).toBe(true)
  })
})
