import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client'
import packageFile from '../../package.json' with { type: 'json' }

/** Each makes a metric from its name and the text that explains it. */
export function createInstruments(registry: Registry) {
  const registers = [registry]
  return {
    counter: <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
      new Counter({ name, help, labelNames, registers }),
    gauge: <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
      new Gauge({ name, help, labelNames, registers }),
    /** `buckets`: in seconds. */
    histogram: <Label extends string = never>(name: string, help: string, buckets: number[], ...labelNames: Label[]) =>
      new Histogram({ name, help, buckets, labelNames, registers }),
  }
}
/** The kinds of payload that are acknowledged: the values of the label `payload`. */
const acknowledgedPayloads = ['command', 'click', 'form', 'shortcut', 'options', 'home', 'other'] as const

/** How Redis can lose a request: the values of the label `how`. */
export const losses = ['all-data', 'set-back', 'one-record'] as const

/** Why a record or a note is not genuine: the values of the label `problem`. */
export const forgeries = ['record-changed', 'approvals-not-genuine', 'already-sent', 'already-ended', 'audit-note'] as const
export type Forgery = (typeof forgeries)[number]

/** Where an error can occur: the values of the label `where`. */
export const places = ['jobs', 'queue', 'audit', 'people', 'slack', 'operators', 'account-api', 'alerts'] as const
export type Place = (typeof places)[number]

/** Statuses of calls that a service did not answer usably. Refusals and limits are answers. */
const isFailed = (status: number | string) =>
  Number(status) >= 500 || ['unreachable', 'contract', 'unknown', 'token-rejected'].includes(String(status))

/** Without a call for this long, nothing is known of a service. While nobody uses Lockkeeper, only `/status` calls one, about once a minute. */
const unknownAfterMs = 150_000

/** In seconds. */
const buckets = {
  /** Slack shows an error after 3 s. The objective is 1 s. */
  acknowledgement: [0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5],
  /** The objectives are 30 s. */
  delay: [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600],
  /** Most moves take half a minute; the slowest take a quarter of an hour. */
  move: [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600],
  call: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
}

/** `promtool check metrics` reports their names: three are gauges that only repeat the sums of others, and two name their own type. */
const misnamed = [
  ...['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'],
  ...['nodejs_eventloop_utilization_histogram', 'nodejs_eventloop_utilization_summary'],
]

/** As long as a timer of Node can be. */
const longestTimerMs = 2 ** 31 - 1

/** docs/reference.md lists them. Values of labels come from small fixed sets, never from ids, names or texts from outside. */
export function createMetrics(role: 'all' | 'web' | 'worker' = 'all') {
  const registry = new Registry()
  // The utilization is not shown. Its timer would run ten times a second and could not be stopped.
  collectDefaultMetrics({ register: registry, eventLoopUtilizationTimeout: longestTimerMs })
  for (const name of misnamed) registry.removeSingleMetric(name)
  const { counter, gauge, histogram } = createInstruments(registry)

  const build = gauge('lockkeeper_build_info', 'Always 1.', 'version', 'role')
  build.set({ version: packageFile.version, role }, 1)
  const acknowledgements = histogram(
    'lockkeeper_acknowledgement_duration_seconds',
    'From a payload to its acknowledgement.',
    buckets.acknowledgement,
    'payload',
  )
  const writeDelays = histogram(
    'lockkeeper_write_delay_seconds',
    'From the last approval, or the end of what held it, to each write.',
    buckets.delay,
    'kind',
  )
  const reportDelays = histogram(
    'lockkeeper_report_delay_seconds',
    'From the end of a change to its report in Slack.',
    buckets.delay,
    'kind',
  )
  const lost = counter('lockkeeper_requests_lost_total', `Losses of requests in Redis: ${losses.join(', ')}.`, 'how')
  const forged = counter('lockkeeper_records_not_genuine_total', `Changed or forged records and notes: ${forgeries.join(', ')}.`, 'problem')
  const transitions = counter('lockkeeper_request_transitions_total', 'State changes of requests and items.', 'kind', 'state')
  const decisions = counter('lockkeeper_decisions_total', 'Decisions and refused attempts.', 'kind', 'decision')
  const apiCalls = histogram(
    'lockkeeper_account_api_call_duration_seconds',
    'Calls to the account API: HTTP status, unreachable or contract.',
    buckets.call,
    'operation',
    'status',
  )
  const sharesSpent = counter('lockkeeper_account_reads_over_share_total', 'Reads that waited because one person may spend a third.')
  const slackCalls = histogram(
    'lockkeeper_slack_call_duration_seconds',
    'Calls to Slack: ok, refused, token-rejected, rate-limited, unknown, HTTP status or unreachable.',
    buckets.call,
    'method',
    'status',
  )
  const failing: Record<'account-api' | 'slack', { firstAt: number; lastAt: number; status: number | string } | undefined> = {
    'account-api': undefined,
    slack: undefined,
  }
  new Gauge({
    name: 'lockkeeper_calls_failing_seconds',
    help: 'How long all calls have failed.',
    labelNames: ['service'],
    registers: [registry],
    collect() {
      for (const service of ['account-api', 'slack'] as const) {
        const calls = failingNow(service)
        this.set({ service }, calls ? (calls.lastAt - calls.firstAt) / 1_000 : 0)
      }
    },
  })
  function failingNow(service: keyof typeof failing) {
    const calls = failing[service]
    return calls && performance.now() - calls.lastAt < unknownAfterMs ? calls : undefined
  }
  function noteCall(service: keyof typeof failing, status: number | string): void {
    const now = performance.now()
    failing[service] = isFailed(status) ? { firstAt: failingNow(service)?.firstAt ?? now, lastAt: now, status } : undefined
  }
  const slackRefused = counter(
    'lockkeeper_slack_requests_refused_total',
    'Refused requests to the public port, such as wrong-signature-for-this-workspace.',
    'reason',
  )
  const machineRequests = counter('lockkeeper_machine_requests_total', 'Requests of machines, by HTTP status.', 'status')
  const moves = histogram('lockkeeper_move_duration_seconds', 'Moves, from the write to the end.', buckets.move, 'state')
  const alerts = counter('lockkeeper_alerts_total', 'Alerts: proposed, duplicate, resolved, unmatched, refused or delayed.', 'outcome')
  const alertsRefused = counter(
    'lockkeeper_alerts_refused_total',
    'Deliveries and alerts that were not read: wrong-token, unreadable, too-large, too-many.',
    'reason',
  )
  const tickSeconds = histogram('lockkeeper_tick_duration_seconds', 'Ticks.', buckets.call)
  const errors = counter('lockkeeper_errors_total', `Errors, each counted: ${places.join(', ')}.`, 'where')
  const redisFaults = gauge('lockkeeper_redis_faults', 'Settings with which Redis could lose requests, in workers.')
  const redisRefuses = gauge('lockkeeper_redis_refuses_writes', '1 if Redis refuses writes, in workers.')
  // Start at 0. Otherwise Prometheus sees no increase at the first event.
  for (const payload of acknowledgedPayloads) acknowledgements.zero({ payload })
  for (const how of losses) lost.inc({ how }, 0)
  for (const problem of forgeries) forged.inc({ problem }, 0)
  for (const where of places) errors.inc({ where }, 0)
  for (const status of ['200', '401']) machineRequests.inc({ status }, 0)

  return {
    registry,
    expectKinds(kinds: string[]): void {
      for (const delays of [writeDelays, reportDelays]) for (const kind of kinds) delays.zero({ kind })
    },
    acknowledged: (payload: (typeof acknowledgedPayloads)[number], ms: number) => acknowledgements.observe({ payload }, ms / 1_000),
    writeSent: (kind: string, sinceApprovalMs: number) => writeDelays.observe({ kind }, seconds(sinceApprovalMs)),
    reported: (kind: string, sinceEndMs: number) => reportDelays.observe({ kind }, seconds(sinceEndMs)),
    requestsLost: (how: (typeof losses)[number]) => lost.inc({ how }),
    notGenuine: (problem: Forgery) => forged.inc({ problem }),
    transition: (kind: string, state: string) => transitions.inc({ kind, state }),
    decision: (kind: string, decision: string) => decisions.inc({ kind, decision }),
    apiCall(operation: string, status: number | string, ms: number): void {
      apiCalls.observe({ operation, status: String(status) }, ms / 1_000)
      noteCall('account-api', status)
    },
    readRefusedByShare: () => sharesSpent.inc(),
    slackCall(method: string, status: number | string, ms: number): void {
      slackCalls.observe({ method, status: String(status) }, ms / 1_000)
      noteCall('slack', status)
    },
    /** The status of the last call, if it failed. */
    failing: (service: keyof typeof failing) => failingNow(service)?.status,
    /** A check that another process made for all. Its success says nothing about this process. */
    checkedElsewhere(service: keyof typeof failing, status: number | string): void {
      if (isFailed(status)) noteCall(service, status)
    },
    slackRefused: (reason: string, count = 1) => slackRefused.inc({ reason: reason.replaceAll(' ', '-') }, count),
    machineRequest: (status: number) => machineRequests.inc({ status: String(status) }),
    alert: (outcome: string, count: number) => alerts.inc({ outcome }, count),
    alertRefused: (reason: string, count: number) => alertsRefused.inc({ reason }, count),
    moveEnded: (state: string, ms: number) => moves.observe({ state }, ms / 1_000),
    tick: (ms: number) => tickSeconds.observe(ms / 1_000),
    redisFaults: (faults: { code: string }[]) => {
      const settings = faults.filter(({ code }) => code !== 'refuses-writes')
      redisFaults.set(settings.length)
      redisRefuses.set(settings.length < faults.length ? 1 : 0)
    },
    error: (where: Place) => errors.inc({ where }),
  }
}
export type Metrics = ReturnType<typeof createMetrics>

/** Redis' clock can be set back between two steps. A negative duration would be counted into no bucket. */
function seconds(ms: number): number {
  return Math.max(0, ms) / 1_000
}
