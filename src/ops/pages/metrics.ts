import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'
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
  const registers = [registry]
  const transitions = new Counter({
    name: 'lockkeeper_request_transitions_total',
    help: 'State changes of requests, and of the items of requests with several, in this process, by kind of change and new state.',
    labelNames: ['kind', 'state'],
    registers,
  })
  const decisions = new Counter({
    name: 'lockkeeper_decisions_total',
    help: 'Decisions and refused attempts in this process, by kind of change and decision.',
    labelNames: ['kind', 'decision'],
    registers,
  })
  const apiCalls = new Histogram({
    name: 'lockkeeper_account_api_call_duration_seconds',
    help: 'Requests to the account API, each attempt counted, by operation and status (or unreachable, contract).',
    labelNames: ['operation', 'status'],
    buckets: callBuckets,
    registers,
  })
  const slackCalls = new Histogram({
    name: 'lockkeeper_slack_call_duration_seconds',
    help: 'Requests to Slack, by method (or response_url) and result: ok, refused, rate-limited, unknown, HTTP status or unreachable.',
    labelNames: ['method', 'status'],
    buckets: callBuckets,
    registers,
  })
  const moves = new Histogram({
    name: 'lockkeeper_move_duration_seconds',
    help: 'Duration of Elastic IP moves, from the write to the end, by outcome. Each address of an evacuation counts.',
    labelNames: ['state'],
    buckets: moveBuckets,
    registers,
  })
  const alerts = new Counter({
    name: 'lockkeeper_alerts_total',
    help: 'Alerts that this process received, and what became of them: proposed, duplicate, resolved, unmatched, refused or delayed.',
    labelNames: ['outcome'],
    registers,
  })
  const alertsRefused = new Counter({
    name: 'lockkeeper_alerts_refused_total',
    help: 'Alerts and deliveries that led to nothing in this process, by reason.',
    labelNames: ['reason'],
    registers,
  })
  const ticks = new Counter({ name: 'lockkeeper_ticks_total', help: 'Scheduler ticks that this process ran.', registers })
  const tickSeconds = new Histogram({
    name: 'lockkeeper_tick_duration_seconds',
    help: 'Duration of a scheduler tick.',
    buckets: callBuckets,
    registers,
  })
  const errors = new Counter({
    name: 'lockkeeper_errors_total',
    help: 'Errors in this process, by place. Each one counts, even if the log has one line for many.',
    labelNames: ['where'],
    registers,
  })
  // Start at 0. Otherwise Prometheus sees no increase when the first error occurs.
  for (const where of places) errors.inc({ where }, 0)

  return {
    registry,
    transition: (kind: string, state: string) => transitions.inc({ kind, state }),
    decision: (kind: string, decision: string) => decisions.inc({ kind, decision }),
    apiCall: (operation: string, status: number | string, ms: number) =>
      apiCalls.observe({ operation, status: String(status) }, ms / 1_000),
    slackCall: (method: string, status: number | string, ms: number) => slackCalls.observe({ method, status: String(status) }, ms / 1_000),
    alert: (outcome: string, count: number) => alerts.inc({ outcome }, count),
    alertRefused: (reason: string, count: number) => alertsRefused.inc({ reason }, count),
    moveEnded: (state: string, ms: number) => moves.observe({ state }, ms / 1_000),
    tick: (ms: number) => {
      ticks.inc()
      tickSeconds.observe(ms / 1_000)
    },
    error: (where: Place) => errors.inc({ where }),
    ...createObjectiveMetrics(registers),
  }
}
export type Metrics = ReturnType<typeof createMetrics>

function createRegistry(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of misnamedGauges) registry.removeSingleMetric(name)
  return registry
}
