/** One panel: what it shows, and the queries that it draws, each with the name of its lines. */
export interface PanelPlan {
  title: string
  /** Says what a reader should see here, and when to worry. */
  description: string
  kind: 'stat' | 'lines'
  /** A unit of Grafana: `s`, `short`, `percentunit`, `reqps`. */
  unit: string
  queries: { expr: string; legend: string }[]
  /** From here on a stat is red. */
  redFrom?: number
}

export interface Row {
  title: string
  panels: PanelPlan[]
}

/** Returns the shares of what was slower than each objective. Prometheus 3 writes whole numbers of a bucket as 1.0. */
function slowShare(metric: string, seconds: number): string {
  const fast = `sum(increase(${metric}_bucket{le=~"${seconds}|${seconds}\\\\.0"}[$__range]))`
  return `1 - ${fast} / sum(increase(${metric}_count[$__range]))`
}

function quantile(metric: string, by: string): string {
  return `histogram_quantile(0.95, sum by (le, ${by}) (rate(${metric}_bucket[$__rate_interval])))`
}

/** Every panel, from the most urgent question to the details. */
export const rows: Row[] = [
  {
    title: 'What must never occur, and what is promised',
    panels: [
      {
        title: 'Writes doubled, requests lost, records not genuine, Redis unsafe',
        description: 'Always 0. Otherwise see docs/alerts-and-errors.md.',
        kind: 'stat',
        unit: 'short',
        redFrom: 1,
        queries: [
          { expr: 'sum(increase(lockkeeper_writes_doubled_total[$__range]))', legend: 'doubled' },
          { expr: 'sum(increase(lockkeeper_requests_lost_total[$__range]))', legend: 'lost' },
          { expr: 'sum(increase(lockkeeper_records_not_genuine_total[$__range]))', legend: 'not genuine' },
          { expr: 'max(lockkeeper_redis_faults)', legend: 'unsafe settings of Redis' },
        ],
      },
      {
        title: 'Acknowledged later than 1 s',
        description: 'The objective: at most 0.1 %.',
        kind: 'stat',
        unit: 'percentunit',
        redFrom: 0.001,
        queries: [{ expr: slowShare('lockkeeper_acknowledgement_duration_seconds', 1), legend: 'slow' }],
      },
      {
        title: 'Sent later than 30 s after the approval',
        description: 'The objective: at most 1 %.',
        kind: 'stat',
        unit: 'percentunit',
        redFrom: 0.01,
        queries: [{ expr: slowShare('lockkeeper_write_delay_seconds', 30), legend: 'late' }],
      },
      {
        title: 'Reported later than 30 s after the end',
        description: 'The objective: at most 1 %.',
        kind: 'stat',
        unit: 'percentunit',
        redFrom: 0.01,
        queries: [{ expr: slowShare('lockkeeper_report_delay_seconds', 30), legend: 'late' }],
      },
    ],
  },
  {
    title: 'Requests and moves',
    panels: [
      {
        title: 'Moves in flight',
        description: 'Moves that were sent and have not ended. Every process shows the same figure.',
        kind: 'lines',
        unit: 'short',
        queries: [{ expr: 'max(lockkeeper_moves_in_flight)', legend: 'moves' }],
      },
      {
        title: 'Steps of requests',
        description: 'How many requests enter each state, per second.',
        kind: 'lines',
        unit: 'short',
        queries: [{ expr: 'sum by (state) (rate(lockkeeper_request_transitions_total[$__rate_interval]))', legend: '{{state}}' }],
      },
      {
        title: 'Decisions',
        description: 'Approvals, rejections, expiries and refused attempts, per second.',
        kind: 'lines',
        unit: 'short',
        queries: [{ expr: 'sum by (decision) (rate(lockkeeper_decisions_total[$__rate_interval]))', legend: '{{decision}}' }],
      },
      {
        title: 'Duration of moves (95 %)',
        description: 'From the write to the end, by how they ended.',
        kind: 'lines',
        unit: 's',
        queries: [{ expr: quantile('lockkeeper_move_duration_seconds', 'state'), legend: '{{state}}' }],
      },
      {
        title: 'From the approval to the write, and from the end to the report (95 %)',
        description: 'Both objectives are 30 s.',
        kind: 'lines',
        unit: 's',
        queries: [
          { expr: quantile('lockkeeper_write_delay_seconds', 'kind'), legend: 'write: {{kind}}' },
          { expr: quantile('lockkeeper_report_delay_seconds', 'kind'), legend: 'report: {{kind}}' },
        ],
      },
      {
        title: 'Time to acknowledge (95 %)',
        description: 'The objective is 1 s. After 3 s Slack shows an error.',
        kind: 'lines',
        unit: 's',
        queries: [{ expr: quantile('lockkeeper_acknowledgement_duration_seconds', 'payload'), legend: '{{payload}}' }],
      },
    ],
  },
  {
    title: 'Alerts',
    panels: [
      {
        title: 'Alerts by outcome',
        description: 'Empty if the port of alerts is off.',
        kind: 'lines',
        unit: 'short',
        queries: [{ expr: 'sum by (outcome) (rate(lockkeeper_alerts_total[$__rate_interval]))', legend: '{{outcome}}' }],
      },
      {
        title: 'Alerts that led to nothing',
        description: 'By reason. A wrong token and what cannot be read are faults of the sender.',
        kind: 'lines',
        unit: 'short',
        queries: [{ expr: 'sum by (reason) (rate(lockkeeper_alerts_refused_total[$__rate_interval]))', legend: '{{reason}}' }],
      },
    ],
  },
  {
    title: 'Slack and the account API',
    panels: [
      {
        title: 'Calls to the account API',
        description: 'By result: an HTTP status, contract (unreadable) or unreachable.',
        kind: 'lines',
        unit: 'reqps',
        queries: [
          { expr: 'sum by (status) (rate(lockkeeper_account_api_call_duration_seconds_count[$__rate_interval]))', legend: '{{status}}' },
        ],
      },
      {
        title: 'Duration of calls to the account API (95 %)',
        description: 'By operation.',
        kind: 'lines',
        unit: 's',
        queries: [{ expr: quantile('lockkeeper_account_api_call_duration_seconds', 'operation'), legend: '{{operation}}' }],
      },
      {
        title: 'Calls to Slack',
        description: 'By result. Many that are rate-limited or unreachable make messages late.',
        kind: 'lines',
        unit: 'reqps',
        queries: [{ expr: 'sum by (status) (rate(lockkeeper_slack_call_duration_seconds_count[$__rate_interval]))', legend: '{{status}}' }],
      },
      {
        title: 'Duration of calls to Slack (95 %)',
        description: 'By method.',
        kind: 'lines',
        unit: 's',
        queries: [{ expr: quantile('lockkeeper_slack_call_duration_seconds', 'method'), legend: '{{method}}' }],
      },
    ],
  },
  {
    title: 'The bot',
    panels: [
      {
        title: 'Processes that reach Redis',
        description: 'Fewer than there are processes: one of them does not reach it.',
        kind: 'stat',
        unit: 'short',
        queries: [{ expr: 'sum(lockkeeper_redis_up)', legend: 'processes' }],
      },
      {
        title: 'Messages that wait for Slack',
        description: 'Back to 0 within seconds, unless Slack is away.',
        kind: 'lines',
        unit: 'short',
        queries: [{ expr: 'max(lockkeeper_messages_unsent)', legend: 'messages' }],
      },
      {
        title: 'Ticks',
        description: 'Ticks of all processes per second, and how long they take (95 %). None while nothing is due.',
        kind: 'lines',
        unit: 'short',
        queries: [
          { expr: 'sum(rate(lockkeeper_ticks_total[$__rate_interval]))', legend: 'ticks per second' },
          {
            expr: 'histogram_quantile(0.95, sum by (le) (rate(lockkeeper_tick_duration_seconds_bucket[$__rate_interval])))',
            legend: 'seconds',
          },
          { expr: 'max(lockkeeper_last_tick_age_seconds)', legend: 'age of the last one in seconds' },
        ],
      },
      {
        title: 'Jobs',
        description: 'By queue and state.',
        kind: 'lines',
        unit: 'short',
        queries: [{ expr: 'max by (queue, state) (lockkeeper_queue_jobs)', legend: '{{queue}} {{state}}' }],
      },
      {
        title: 'Errors',
        description: 'By place, per second. docs/alerts-and-errors.md says which codes of the log belong to each.',
        kind: 'lines',
        unit: 'short',
        queries: [{ expr: 'sum by (where) (rate(lockkeeper_errors_total[$__rate_interval]))', legend: '{{where}}' }],
      },
      {
        title: 'Event loop and memory',
        description: 'The lag of the event loop (99 %) delays acknowledgements.',
        kind: 'lines',
        unit: 'short',
        queries: [
          { expr: 'max by (instance) (nodejs_eventloop_lag_p99_seconds)', legend: '{{instance}}: lag in seconds' },
          { expr: 'sum by (instance) (process_resident_memory_bytes) / 1e6', legend: '{{instance}}: memory in MB' },
        ],
      },
    ],
  },
]
