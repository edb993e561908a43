import { createErrorReports } from '../../ops/log/error-reports.ts'
import type { Log } from '../../ops/log/log.ts'
import { createRepeatedLines } from '../../ops/log/repeated-lines.ts'
import { createMetrics } from '../../ops/pages/metrics.ts'
import { rejectedTokenErrors } from '../../slack/web-api/failure.ts'
import type { OnSlackCall, SlackCall } from '../../slack/web-api/measured-fetch.ts'

/** Calls whose callers report a rejected token: the start, the check of `/status`, and the opening of Socket Mode with its own token. */
const reportedElsewhere = new Set(['auth.test', 'apps.connections.open'])

/** Creates the log's error reports and the metrics of this process. It depends on no other part, because every other part reports to it. */
export function createTelemetry(log: Log) {
  const metrics = createMetrics()
  const lines = createRepeatedLines(log)
  const errorReports = createErrorReports({ log, lines, count: metrics.error })

  const onSlackCall: OnSlackCall = (call) => {
    const { method, ms } = call
    const status = isTokenRejected(call) ? 'token-rejected' : call.status
    if (status === 'token-rejected') onRejectedToken(call)
    metrics.slackCall(method, status, ms)
  }

  /** Counts and logs it. Without this line, a log shows only that each person gets a refusal, and not why. */
  function onRejectedToken({ method, error = '' }: SlackCall): void {
    if (reportedElsewhere.has(method)) return
    metrics.error('slack')
    const problem = `Slack rejects SLACK_BOT_TOKEN (${error})`
    lines.write({
      fields: { code: 'slack-token-rejected', problem },
      text: `${problem}. Nobody gets answers until it is valid`,
      level: 'error',
    })
  }

  /** Counts and logs that a person has spent their share of the reads, by which others notice who lists in unusual number. */
  function onShareSpent(userId: string, reads: number): void {
    metrics.readRefusedByShare()
    lines.write({
      fields: { code: 'reads-share-spent', userId, reads },
      text: 'A person has read as often in a minute as one person may, and waits',
      about: userId,
    })
  }

  return { log, lines, metrics, errorReports, onSlackCall, onShareSpent }
}
export type Telemetry = ReturnType<typeof createTelemetry>

function isTokenRejected({ error }: SlackCall): boolean {
  return error !== undefined && rejectedTokenErrors.has(error)
}
