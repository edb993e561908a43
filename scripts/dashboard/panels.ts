interface Query {
  expr: string
  legend: string
}

/** One panel: what it shows, and the queries that it draws, each with the name of its lines. */
export interface PanelPlan {
  title: string
  /** Says what a reader should see here, and when to worry. */
  description: string
  kind: 'stat' | 'lines'
  /** A unit of Grafana: `s`, `short`, `percentunit`, `reqps`, `bytes`. */
  unit: string
  queries: Query[]
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

/** Draws how long something takes, by a label. `name` distinguishes it from others in the same panel. */
function slowest(metric: string, by: string, name?: string): Query {
  const expr = `histogram_quantile(0.95, sum by (le, ${by}) (rate(${metric}_bucket[$__rate_interval])))`
  return { expr, legend: `${name === undefined ? '' : `${name}: `}{{${by}}}` }
}

/** Draws how often something happens per second, by a label. */
function rate(metric: string, by: string): Query {
  return { expr: `sum by (${by}) (rate(${metric}[$__rate_interval]))`, legend: `{{${by}}}` }
}

/** Plans a panel that shows the share of what missed its objective. */
function missed(title: string, description: string, { redFrom, ...query }: Query & { redFrom: number }): PanelPlan {
  return { title, description, kind: 'stat', unit: 'percentunit', redFrom, queries: [query] }
}

/** Plans a panel with lines. */
function lines(title: string, description: string, unit: string, ...queries: Query[]): PanelPlan {
  return { title, description, kind: 'lines', unit, queries }
}

/** Every panel, from the most urgent question to the details. */
export const rows: Row[] = [
  {
    title: 'What must never occur, and what is promised',
    panels: [
      {
        title: 'Requests lost, records not genuine, Redis unsafe',
        description: 'Always 0. Otherwise see docs/errors.md.',
        kind: 'stat',
        unit: 'short',
        redFrom: 1,
        queries: [
          { expr: 'sum(increase(lockkeeper_requests_lost_total[$__range]))', legend: 'lost' },
          { expr: 'sum(increase(lockkeeper_records_not_genuine_total[$__range]))', legend: 'not genuine' },
          { expr: 'max(lockkeeper_redis_faults)', legend: 'unsafe settings of Redis' },
          { expr: 'max(lockkeeper_redis_refuses_writes)', legend: 'Redis refuses writes' },
        ],
      },
      missed('Acknowledged later than 1 s', 'The objective: at most 0.1 %.', {
        expr: slowShare('lockkeeper_acknowledgement_duration_seconds', 1),
        legend: 'slow',
        redFrom: 0.001,
      }),
      missed('Sent later than 30 s after the approval', 'The objective: at most 1 %.', {
        expr: slowShare('lockkeeper_write_delay_seconds', 30),
        legend: 'late',
        redFrom: 0.01,
      }),
      missed('Reported later than 30 s after the end', 'The objective: at most 1 %.', {
        expr: slowShare('lockkeeper_report_delay_seconds', 30),
        legend: 'late',
        redFrom: 0.01,
      }),
    ],
  },
  {
    title: 'Outages',
    panels: [
      {
        title: 'Processes',
        description: 'By role and version. Without one of the role web or all, nobody gets answers.',
        kind: 'stat',
        unit: 'short',
        queries: [{ expr: 'count by (role, version) (lockkeeper_build_info)', legend: '{{role}} {{version}}' }],
      },
      {
        title: 'Workers',
        description: 'At 0, no approved change starts and nothing is tracked.',
        kind: 'stat',
        unit: 'short',
        queries: [{ expr: 'max(lockkeeper_workers)', legend: 'workers' }],
      },
      lines('All calls fail', 'How long not one call has succeeded. 0 is good.', 's', {
        expr: 'max by (service) (lockkeeper_calls_failing_seconds)',
        legend: '{{service}}',
      }),
      lines(
        'Refused requests to the public port',
        'By reason. wrong-signature-for-this-workspace: SLACK_SIGNING_SECRET is wrong. time-stamp-off: perhaps the clock is wrong.',
        'short',
        rate('lockkeeper_slack_requests_refused_total', 'reason'),
      ),
      lines('Clocks', 'Seconds ahead of Redis. From 300, requests from Slack are refused.', 's', {
        expr: 'max by (instance) (lockkeeper_clock_ahead_seconds)',
        legend: '{{instance}}',
      }),
      lines(
        'Memory of Redis',
        'When it is full, Redis refuses writes. A limit of 0 is none.',
        'bytes',
        { expr: 'max(lockkeeper_redis_memory_used_bytes)', legend: 'used' },
        { expr: 'max(lockkeeper_redis_memory_max_bytes)', legend: 'limit' },
      ),
    ],
  },
  {
    title: 'Requests and moves',
    panels: [
      lines('Moves in flight', 'Moves that were sent and have not ended. Every process shows the same figure.', 'short', {
        expr: 'max(lockkeeper_moves_in_flight)',
        legend: 'moves',
      }),
      {
        title: 'Frozen',
        description: '1 while no change starts, because of a freeze that somebody set or Lockkeeper itself.',
        kind: 'stat',
        unit: 'short',
        queries: [{ expr: 'max(lockkeeper_frozen)', legend: 'frozen' }],
      },
      lines(
        'Steps of requests',
        'How many requests enter each state, per second.',
        'short',
        rate('lockkeeper_request_transitions_total', 'state'),
      ),
      lines(
        'Decisions',
        'Approvals, rejections, expiries and refused attempts, per second.',
        'short',
        rate('lockkeeper_decisions_total', 'decision'),
      ),
      lines(
        'Duration of moves (95 %)',
        'From the write to the end, by how they ended.',
        's',
        slowest('lockkeeper_move_duration_seconds', 'state'),
      ),
      lines(
        'From the approval to the write, and from the end to the report (95 %)',
        'Both objectives are 30 s.',
        's',
        slowest('lockkeeper_write_delay_seconds', 'kind', 'write'),
        slowest('lockkeeper_report_delay_seconds', 'kind', 'report'),
      ),
      lines(
        'Time to acknowledge (95 %)',
        'The objective is 1 s. After 3 s Slack shows an error.',
        's',
        slowest('lockkeeper_acknowledgement_duration_seconds', 'payload'),
      ),
    ],
  },
  {
    title: 'Alerts and machines',
    panels: [
      lines('Requests of machines', 'By HTTP status. 401: a wrong token.', 'short', rate('lockkeeper_machine_requests_total', 'status')),
      lines('Alerts by outcome', 'Empty if the port of alerts is off.', 'short', rate('lockkeeper_alerts_total', 'outcome')),
      lines(
        'Alerts that were not read',
        'By reason. A wrong token and what cannot be read are faults of the sender.',
        'short',
        rate('lockkeeper_alerts_refused_total', 'reason'),
      ),
    ],
  },
  {
    title: 'Slack and the account API',
    panels: [
      lines(
        'Calls to the account API',
        'By result: an HTTP status, contract (unreadable) or unreachable.',
        'reqps',
        rate('lockkeeper_account_api_call_duration_seconds_count', 'status'),
      ),
      lines(
        'Duration of calls to the account API (95 %)',
        'By operation.',
        's',
        slowest('lockkeeper_account_api_call_duration_seconds', 'operation'),
      ),
      lines(
        'Calls to the account API in the last minute',
        'Of all processes, by what they are for. The account allows one key 60 reads and 20 writes a minute.',
        'short',
        { expr: 'max by (kind, lane) (lockkeeper_account_budget_used)', legend: '{{kind}} {{lane}}' },
        {
          expr: 'sum(rate(lockkeeper_account_reads_over_share_total[$__rate_interval])) * 60',
          legend: 'reads over the share of one person',
        },
      ),
      lines('Waits for the limits of the account', 'How long the next call would have to wait, by what it is for.', 's', {
        expr: 'max by (kind, lane) (lockkeeper_account_budget_waiting_seconds)',
        legend: '{{kind}} {{lane}}',
      }),
      lines(
        'Calls to Slack',
        'By result. Many that are rate-limited or unreachable make messages late.',
        'reqps',
        rate('lockkeeper_slack_call_duration_seconds_count', 'status'),
      ),
      lines('Duration of calls to Slack (95 %)', 'By method.', 's', slowest('lockkeeper_slack_call_duration_seconds', 'method')),
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
      lines('Messages that wait for Slack', 'Back to 0 within seconds, unless Slack is away.', 'short', {
        expr: 'max(lockkeeper_messages_unsent)',
        legend: 'messages',
      }),
      lines(
        'Ticks',
        'Ticks of all processes per second, and how long they take (95 %). None while nothing is due.',
        'short',
        { expr: 'sum(rate(lockkeeper_tick_duration_seconds_count[$__rate_interval]))', legend: 'ticks per second' },
        {
          expr: 'histogram_quantile(0.95, sum by (le) (rate(lockkeeper_tick_duration_seconds_bucket[$__rate_interval])))',
          legend: 'seconds',
        },
        { expr: 'max(lockkeeper_last_tick_age_seconds)', legend: 'age of the last one in seconds' },
      ),
      lines(
        'Errors',
        'By place, per second. docs/errors.md explains the codes in the log.',
        'short',
        rate('lockkeeper_errors_total', 'where'),
      ),
      lines(
        'Event loop and memory',
        'The lag of the event loop (99 %) delays acknowledgements.',
        'short',
        { expr: 'max by (instance) (nodejs_eventloop_lag_p99_seconds)', legend: '{{instance}}: lag in seconds' },
        { expr: 'sum by (instance) (process_resident_memory_bytes) / 1e6', legend: '{{instance}}: memory in MB' },
      ),
    ],
  },
]
