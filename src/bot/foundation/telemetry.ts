import { createErrorReports } from '../../ops/log/error-reports.ts'
import type { Log } from '../../ops/log/log.ts'
import { createMetrics } from '../../ops/pages/metrics.ts'
import type { OnSlackCall } from '../../slack/web-api/measured-fetch.ts'

/** Creates the log's error reports and the metrics of this process. It depends on no other part, because every other part reports to it. */
export function createTelemetry(log: Log) {
  const metrics = createMetrics()
  const errorReports = createErrorReports({ log, count: metrics.error })

  const onSlackCall: OnSlackCall = ({ method, status, ms }) => metrics.slackCall(method, status, ms)

  return { log, metrics, errorReports, onSlackCall }
}
export type Telemetry = ReturnType<typeof createTelemetry>
