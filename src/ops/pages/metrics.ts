import { collectDefaultMetrics, Registry } from 'prom-client'
import { createInstruments } from './instruments.ts'
import { createObjectiveMetrics } from './objectives.ts'

/** Where an error can occur: the values of the label `where`. */
export const places = ['jobs', 'queue', 'audit', 'people', 'slack', 'operators', 'account-api', 'alerts'] as const
export type Place = (typeof places)[number]

/** In seconds. Most moves take half a minute; the slowest take a quarter of an hour. */
const moveBuckets = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600]
/** In seconds. */
const callBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20]

/**
 * Gauges of prom-client whose names end like those of counters, which `promtool check metrics` reports. They only repeat the sums of other
 * gauges, such as `nodejs_active_handles`.
 */
const misnamedGauges = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

/**
 * Creates the metrics of this process. Names follow prometheus.io/docs/practices/naming: base units, and `_total` for
 * counters. The values of labels come from small fixed sets, and never from ids, names or texts from outside.
 */
export function createMetrics() {
  const registry = createRegistry()
  const instruments = createInstruments(registry)
  const { counter, gauge, histogram } = instruments
  const transitions = counter(
    'lockkeeper_request_transitions_total',
    'State changes of requests, and of the items of requests with several, in this process, by kind of change and new state.',
    'kind',
    'state',
  )
  const decisions = counter(
    'lockkeeper_decisions_total',
    'Decisions and refused attempts in this process, by kind of change and decision.',
    'kind',
    'decision',
  )
  const apiCalls = histogram(
    'lockkeeper_account_api_call_duration_seconds',
    'Requests to the account API, each attempt counted, by operation and status (or unreachable, contract).',
    callBuckets,
    'operation',
    'status',
  )
  const sharesSpent = counter(
    'lockkeeper_account_reads_over_share_total',
    'Reads of people that had to wait in this process, because one person may spend a third of what all people may.',
  )
  const slackCalls = histogram(
    'lockkeeper_slack_call_duration_seconds',
    'Requests to Slack, by method (or response_url) and result: ok, refused, token-rejected, rate-limited, unknown, HTTP status or unreachable.',
    callBuckets,
    'method',
    'status',
  )
  const moves = histogram(
    'lockkeeper_move_duration_seconds',
    'Duration of Elastic IP moves, from the write to the end, by outcome. Each address of an evacuation counts.',
    moveBuckets,
    'state',
  )
  const alerts = counter(
    'lockkeeper_alerts_total',
    'Alerts that this process received, and what became of them: proposed, duplicate, resolved, unmatched, refused or delayed.',
    'outcome',
  )
  const alertsRefused = counter(
    'lockkeeper_alerts_refused_total',
    'Alerts and deliveries that led to nothing in this process, by reason.',
    'reason',
  )
  const ticks = counter('lockkeeper_ticks_total', 'Scheduler ticks that this process ran.')
  const tickSeconds = histogram('lockkeeper_tick_duration_seconds', 'Duration of a scheduler tick.', callBuckets)
  const errors = counter(
    'lockkeeper_errors_total',
    'Errors in this process, by place. Each one counts, even if the log has one line for many.',
    'where',
  )
  const redisFaults = gauge(
    'lockkeeper_redis_faults',
    'Settings with which Redis could lose requests, as a worker last found them. 0 in processes without a worker.',
  )
  const redisRefuses = gauge(
    'lockkeeper_redis_refuses_writes',
    '1 if Redis answers but refuses writes, as a worker last found it, otherwise 0. 0 in processes without a worker.',
  )
  // Start at 0. Otherwise Prometheus sees no increase when the first error occurs.
  for (const where of places) errors.inc({ where }, 0)

  return {
    registry,
    transition: (kind: string, state: string) => transitions.inc({ kind, state }),
    decision: (kind: string, decision: string) => decisions.inc({ kind, decision }),
    apiCall: (operation: string, status: number | string, ms: number) =>
      apiCalls.observe({ operation, status: String(status) }, ms / 1_000),
    readRefusedByShare: () => sharesSpent.inc(),
    slackCall: (method: string, status: number | string, ms: number) => slackCalls.observe({ method, status: String(status) }, ms / 1_000),
    alert: (outcome: string, count: number) => alerts.inc({ outcome }, count),
    alertRefused: (reason: string, count: number) => alertsRefused.inc({ reason }, count),
    moveEnded: (state: string, ms: number) => moves.observe({ state }, ms / 1_000),
    tick: (ms: number) => {
      ticks.inc()
      tickSeconds.observe(ms / 1_000)
    },
    redisFaults: (faults: { code: string }[]) => {
      const settings = faults.filter(({ code }) => code !== 'refuses-writes')
      redisFaults.set(settings.length)
      redisRefuses.set(settings.length < faults.length ? 1 : 0)
    },
    error: (where: Place) => errors.inc({ where }),
    ...createObjectiveMetrics(instruments),
  }
}
export type Metrics = ReturnType<typeof createMetrics>

function createRegistry(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of misnamedGauges) registry.removeSingleMetric(name)
  return registry
}
