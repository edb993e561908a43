import { createErrorReports } from '../ops/log/error-reports.ts'
import type { Log } from '../ops/log/log.ts'
import { createMetrics } from '../ops/pages/metrics.ts'
import type { OnSlackCall } from '../slack/web-api/measured-fetch.ts'

/** Creates what the process logs and counts of itself. It knows no other part, so it is made first. */
export function createInstruments(log: Log) {
  const metrics = createMetrics()
  const errorReports = createErrorReports({ log, count: metrics.error })

  const onSlackCall: OnSlackCall = ({ method, status, ms }) => metrics.slackCall(method, status, ms)

  return { log, metrics, errorReports, onSlackCall }
}
export type Instruments = ReturnType<typeof createInstruments>
