import type { Instruments } from './instruments.ts'

/** The kinds of payload that are acknowledged: the values of the label `payload`. */
const acknowledgedPayloads = ['command', 'click', 'form', 'shortcut', 'options', 'home', 'other'] as const
export type AcknowledgedPayload = (typeof acknowledgedPayloads)[number]

/** How Redis can lose a request: the values of the label `how`. */
export const losses = ['all-data', 'set-back', 'one-record'] as const
type Loss = (typeof losses)[number]

/** Why a record or a note is not genuine: the values of the label `problem`. */
export const forgeries = ['record-changed', 'approvals-not-genuine', 'already-sent', 'already-ended', 'audit-note'] as const
export type Forgery = (typeof forgeries)[number]

/** In seconds. Slack shows an error after 3 s. The objective is 1 s. */
const acknowledgementBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5]
/** In seconds. The objectives are 30 s. */
const delayBuckets = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600]

/**
 * Creates the metrics of the service level objectives, and the counters of events that must never occur. docs/alerts-and-errors.md explains
 * both.
 */
export function createObjectiveMetrics({ counter, histogram }: Pick<Instruments, 'counter' | 'histogram'>) {
  const acknowledgements = histogram(
    'lockkeeper_acknowledgement_duration_seconds',
    'From the arrival of a payload of Slack to its acknowledgement, by kind of payload.',
    acknowledgementBuckets,
    'payload',
  )
  const writeDelays = histogram(
    'lockkeeper_write_delay_seconds',
    'From the last approval of a request to the write, for each of its writes, by kind of the request.',
    delayBuckets,
    'kind',
  )
  const reportDelays = histogram(
    'lockkeeper_report_delay_seconds',
    'From the end of a change that was sent to its report in Slack, by kind of change. Several items end with the last one.',
    delayBuckets,
    'kind',
  )
  for (const payload of acknowledgedPayloads) acknowledgements.zero({ payload })

  /** Starts the delays of these kinds at 0. Otherwise Prometheus sees no increase when the first one is late. */
  function expectKinds(kinds: string[]): void {
    for (const delays of [writeDelays, reportDelays]) for (const kind of kinds) delays.zero({ kind })
  }

  return {
    expectKinds,
    acknowledged: (payload: AcknowledgedPayload, ms: number) => acknowledgements.observe({ payload }, ms / 1_000),
    writeSent: (kind: string, sinceApprovalMs: number) => writeDelays.observe({ kind }, seconds(sinceApprovalMs)),
    reported: (kind: string, sinceEndMs: number) => reportDelays.observe({ kind }, seconds(sinceEndMs)),
    ...createNeverCounters(counter),
  }
}

/** Creates the counters of events that must never occur. They start at 0. Otherwise Prometheus sees no increase at the first event. */
function createNeverCounters(counter: Instruments['counter']) {
  const lost = counter(
    'lockkeeper_requests_lost_total',
    'Losses of requests in Redis that this process noticed: of all data, of newer data, or of one record.',
    'how',
  )
  const forged = counter(
    'lockkeeper_records_not_genuine_total',
    'Records and audit notes that this process found changed or forged, each time that it found one, by problem.',
    'problem',
  )
  for (const how of losses) lost.inc({ how }, 0)
  for (const problem of forgeries) forged.inc({ problem }, 0)

  return {
    requestsLost: (how: Loss) => lost.inc({ how }),
    notGenuine: (problem: Forgery) => forged.inc({ problem }),
  }
}

/** Redis' clock can be set back between two steps. A negative duration would be counted into no bucket. */
function seconds(ms: number): number {
  return Math.max(0, ms) / 1_000
}
