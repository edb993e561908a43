import { afterEach, describe, expect, it, onTestFinished, test, vi } from 'vitest'
import packageFile from '../../package.json' with { type: 'json' }
import { createMetricsPage, type Health, type Page, type Snapshot, startHealth } from '../../src/ops/health.ts'
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
    scheduled: [{ by: 'window', count: 2 }],
    movesInFlight: 3,
    unsent: 1,
    lastTickAgeMs: 1_500,
    budget: [{ kind: 'read', lane: 'person', used: 50, waitMs: 31_000 }],
    isFrozen: true,
    workers: 2,
    memory: { used: 400, max: 500 },
    clockAheadMs: -600_000,
  }

  /** Returns metrics together with their page. */
  function createPaged({ snapshot, ...options }: { snapshot: () => Promise<Snapshot>; keepMs?: number }) {
    const metrics = createMetrics()
    return { ...metrics, page: createMetricsPage(metrics.registry, snapshot, options) }
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
          'lockkeeper_tick_duration_seconds_count 1',
          'lockkeeper_errors_total{where="jobs"} 1',
          'lockkeeper_acknowledgement_duration_seconds_bucket{le="0.25",payload="command"} 1',
          'lockkeeper_write_delay_seconds_bucket{le="1",kind="ip.move"} 1',
          'lockkeeper_report_delay_seconds_bucket{le="0.5",kind="ip.evacuate"} 1',
          'lockkeeper_requests_lost_total{how="set-back"} 1',
          'lockkeeper_requests_open{kind="ip.move",state="waiting"} 2',
          'lockkeeper_requests_scheduled{by="window"} 2',
          'lockkeeper_moves_in_flight 3',
          'lockkeeper_messages_unsent 1',
          'lockkeeper_last_tick_age_seconds 1.5',
          'lockkeeper_redis_up 1',
          'lockkeeper_frozen 1',
          'lockkeeper_workers 2',
          'lockkeeper_redis_memory_used_bytes 400',
          'lockkeeper_redis_memory_max_bytes 500',
          'lockkeeper_clock_ahead_seconds -600',
          `lockkeeper_build_info{version="${packageFile.version}",role="all"} 1`,
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
      const shared = async () =>
        (await linesOf(metrics)).filter((line) => /_open|in_flight|unsent|tick_age|workers|memory|ahead/.test(line))
      expect(await shared()).toHaveLength(8)

      answer = () => Promise.reject(new Error('away'))
      expect(await shared()).toEqual([])

      answer = async () => ({ ...figures, lastTickAgeMs: undefined, memory: undefined })
      expect(await shared()).not.toContainEqual(expect.stringMatching(/tick_age|memory/))
      expect(await shared()).toContain('lockkeeper_moves_in_flight 3')
    })

    test('shows how long all calls of a service have failed, until one succeeds or none is made for 150 s', async () => {
      vi.useFakeTimers({ toFake: ['performance'] })
      onTestFinished(() => void vi.useRealTimers())
      const metrics = createPaged({ snapshot: async () => figures })
      const failing = async (service: string) =>
        Number((await linesOf(metrics)).find((line) => line.includes(`failing_seconds{service="${service}"}`))?.split(' ')[1])
      const account = (status: number | string) => metrics.apiCall('elasticIps.get', status, 10)
      const calls: [number, number | string][] = [
        [0, 503],
        [20_000, 'unreachable'],
        [20_000, 'contract'],
      ]
      for (const [afterMs, status] of calls) {
        vi.advanceTimersByTime(afterMs)
        account(status)
      }
      expect([await failing('account-api'), await failing('slack')]).toEqual([40, 0])

      account(429)
      expect(await failing('account-api')).toBe(0)

      for (const status of ['unknown', 'unreachable']) {
        metrics.slackCall('chat.postMessage', status, 10)
        vi.advanceTimersByTime(30_000)
      }
      expect(await failing('slack')).toBe(30)
      vi.advanceTimersByTime(120_000)
      expect(await failing('slack')).toBe(0)
      // What failed before 150 s without calls is another matter.
      metrics.slackCall('chat.postMessage', 'unreachable', 10)
      expect(await failing('slack')).toBe(0)
    })

    test('starts each error counter, and each counter of what must never occur, at 0, so that the first one is an increase', async () => {
      const lines = await linesOf(createPaged({ snapshot: async () => figures }))
      for (const how of losses) expect(lines).toContain(`lockkeeper_requests_lost_total{how="${how}"} 0`)
      for (const problem of forgeries) expect(lines).toContain(`lockkeeper_records_not_genuine_total{problem="${problem}"} 0`)
      for (const place of places) expect(lines).toContain(`lockkeeper_errors_total{where="${place}"} 0`)
    })
  })
})
