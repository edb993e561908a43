import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { settleWithin } from '../../domain/within.ts'
import type { Page } from './health.ts'
import { atMostEvery, shareRuns } from './shared-runs.ts'

/** The figures that all replicas share. They are read from Redis for a scrape instead of being counted here. */
export interface Snapshot {
  /** Open requests, by state and kind. */
  open: { state: string; kind: string; count: number }[]
  movesInFlight: number
  /** The number of messages that were not delivered to Slack yet. */
  unsent: number
  /** Jobs, by BullMQ queue and state. */
  jobs: { queue: string; state: string; count: number }[]
  /** Undefined if there was no tick yet. */
  lastTickAgeMs: number | undefined
}

/** Where an error can occur: the values of the label `where`. */
export const places = ['jobs', 'queue', 'audit', 'people', 'slack', 'operators', 'account-api'] as const
export type Place = (typeof places)[number]

/** How long the shared figures are reused, so that frequent scrapes cost little. Short enough that ages in them need no correction. */
const defaultKeepMs = 1_000

/** How long the page waits for the shared figures. Scrapers wait longer, so they still get the figures of this process. */
const defaultWaitMs = 3_000

interface MetricsParts {
  snapshot: () => Promise<Snapshot>
  keepMs?: number
  waitMs?: number
}

/** In seconds. Most moves take half a minute; the slowest take a quarter of an hour. */
const moveBuckets = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600]
/** In seconds. */
const callBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20]

/**
 * Gauges of prom-client whose names end like those of counters, which `promtool check metrics` reports. They are only sums of gauges that
 * stay, such as `nodejs_active_handles`.
 */
const misnamedGauges = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

/**
 * Creates the metrics page in the format of Prometheus. Names follow prometheus.io/docs/practices/naming: base units, and `_total` for
 * counters. The values of labels come from small fixed sets, and never from ids, names or texts from outside.
 */
export function createMetrics({ snapshot, keepMs = defaultKeepMs, waitMs = defaultWaitMs }: MetricsParts) {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  for (const name of misnamedGauges) registry.removeSingleMetric(name)

  const transitions = new Counter({
    name: 'lockkeeper_request_transitions_total',
    help: 'Steps that requests made in this process, by kind of change and the state they entered.',
    labelNames: ['kind', 'state'],
    registers,
  })
  const decisions = new Counter({
    name: 'lockkeeper_decisions_total',
    help: 'Decisions and refused attempts in this process, by kind of change and what was decided.',
    labelNames: ['kind', 'decision'],
    registers,
  })
  const apiCalls = new Histogram({
    name: 'lockkeeper_account_api_call_duration_seconds',
    help: 'Calls of the account API, each try by itself, by operation and status (or unreachable, contract).',
    labelNames: ['operation', 'status'],
    buckets: callBuckets,
    registers,
  })
  const slackCalls = new Histogram({
    name: 'lockkeeper_slack_call_duration_seconds',
    help: 'Calls of Slack, by method (or response_url) and how they ended: ok, refused, rate-limited, unknown, HTTP status or unreachable.',
    labelNames: ['method', 'status'],
    buckets: callBuckets,
    registers,
  })
  const moves = new Histogram({
    name: 'lockkeeper_move_duration_seconds',
    help: 'How long moves of Elastic IPs took, from the write to their end, by how they ended.',
    labelNames: ['state'],
    buckets: moveBuckets,
    registers,
  })
  const ticks = new Counter({ name: 'lockkeeper_ticks_total', help: 'Ticks of the following that this process ran.', registers })
  const tickSeconds = new Histogram({
    name: 'lockkeeper_tick_duration_seconds',
    help: 'How long a tick of the following took.',
    buckets: callBuckets,
    registers,
  })
  const errors = new Counter({
    name: 'lockkeeper_errors_total',
    help: 'What went wrong in this process, by where: each time, also where the log has one line for many.',
    labelNames: ['where'],
    registers,
  })
  // Start at 0. Otherwise Prometheus sees no increase when the first error occurs.
  for (const where of places) errors.inc({ where }, 0)
  const shared = createSnapshotGauges(registers)

  const readShared = atMostEvery(keepMs, shareRuns(snapshot))

  async function page(): Promise<Page> {
    let latest: Snapshot | undefined
    const reading = readShared().then((figures) => {
      latest = figures
    })
    await settleWithin(waitMs, [reading])
    shared.set(latest)
    return { status: 200, type: registry.contentType, body: await registry.metrics() }
  }

  return {
    page,
    transition: (kind: string, state: string) => transitions.inc({ kind, state }),
    decision: (kind: string, decision: string) => decisions.inc({ kind, decision }),
    apiCall: (operation: string, status: number | string, ms: number) =>
      apiCalls.observe({ operation, status: String(status) }, ms / 1_000),
    slackCall: (method: string, status: number | string, ms: number) => slackCalls.observe({ method, status: String(status) }, ms / 1_000),
    moveEnded: (state: string, ms: number) => moves.observe({ state }, ms / 1_000),
    tick: (ms: number) => {
      ticks.inc()
      tickSeconds.observe(ms / 1_000)
    },
    error: (where: Place) => errors.inc({ where }),
  }
}
export type Metrics = ReturnType<typeof createMetrics>

/** Creates the gauges of the shared figures. Unknown figures get no value: an old one would hide an outage, and 0 would look healthy. */
function createSnapshotGauges(registers: Registry[]) {
  const up = new Gauge({ name: 'lockkeeper_redis_up', help: '1 where Redis answered this scrape, 0 where not.', registers })
  const open = new Gauge({
    name: 'lockkeeper_requests_open',
    help: 'Open requests of all replicas, by kind of change and state.',
    labelNames: ['kind', 'state'],
    registers,
  })
  const inFlight = new Gauge({ name: 'lockkeeper_moves_in_flight', help: 'Moves that take effect now, of all replicas.', registers })
  const unsent = new Gauge({ name: 'lockkeeper_messages_unsent', help: 'Messages that Slack does not have yet.', registers })
  const jobs = new Gauge({ name: 'lockkeeper_queue_jobs', help: 'Jobs, by queue and state.', labelNames: ['queue', 'state'], registers })
  const tickAge = new Gauge({
    name: 'lockkeeper_last_tick_age_seconds',
    help: 'How long ago the last tick was, of any replica; ticks rest while nothing is due.',
    registers,
  })

  function set(figures: Snapshot | undefined): void {
    up.set(figures ? 1 : 0)
    open.reset()
    jobs.reset()
    for (const gauge of [inFlight, unsent, tickAge]) gauge.remove()
    if (!figures) return
    for (const { kind, state, count } of figures.open) open.set({ kind, state }, count)
    for (const { queue, state, count } of figures.jobs) jobs.set({ queue, state }, count)
    inFlight.set(figures.movesInFlight)
    unsent.set(figures.unsent)
    if (figures.lastTickAgeMs !== undefined) tickAge.set(figures.lastTickAgeMs / 1_000)
  }

  return { set }
}
