import { noTracing, type Tracing } from '../../domain/tracing.ts'
import { createErrorReports } from '../../ops/log/error-reports.ts'
import type { Log } from '../../ops/log/log.ts'
import { createRepeatedLines } from '../../ops/log/repeated-lines.ts'
import { createMetrics } from '../../ops/pages/metrics.ts'
import type { QueueTelemetry } from '../../ops/tracing/queue-telemetry.ts'
import type { OnSlackCall } from '../../slack/web-api/measured-fetch.ts'

/** The recording of traces, with what BullMQ needs for its jobs. */
export type BotTracing = Tracing & { queueTelemetry?: QueueTelemetry }

/** Creates the log's error reports and the metrics of this process. It depends on no other part, because every other part reports to it. */
export function createTelemetry(log: Log, tracing: BotTracing = noTracing) {
  const metrics = createMetrics()
  const lines = createRepeatedLines(log)
  const errorReports = createErrorReports({ log, lines, count: metrics.error })

  const onSlackCall: OnSlackCall = ({ method, status, ms }) => {
    metrics.slackCall(method, status, ms)
    tracing.note(`slack ${method}`, { 'lockkeeper.slack.method': method, 'lockkeeper.status': String(status) }, ms)
  }

  return { log, lines, metrics, tracing, errorReports, onSlackCall }
}
export type Telemetry = ReturnType<typeof createTelemetry>
