import { expect, test } from 'vitest'
import { createRepeatedLines, type Log } from '../../src/ops/log.ts'
import { createMetrics } from '../../src/ops/metrics.ts'
import { slackCallReporter } from '../../src/start/apps.ts'

/** Creates the telemetry with a log that keeps its errors. */
function arrange() {
  const errors: unknown[][] = []
  const log = { info() {}, warn() {}, error: (...line: unknown[]) => errors.push(line) } as unknown as Log
  const metrics = createMetrics()
  const onSlackCall = slackCallReporter({ metrics, lines: createRepeatedLines(log) })
  return { errors, onSlackCall, page: async () => (await metrics.registry.metrics()).split('\n') }
}

test('a token that Slack rejects while Lockkeeper runs has one line in the log, and counts as a failed call', async () => {
  const { errors, onSlackCall, page } = arrange()

  for (const method of ['users.info', 'chat.postMessage']) onSlackCall({ method, status: 'refused', error: 'token_revoked', ms: 1 })

  expect(errors).toEqual([
    [
      { code: 'slack-token-rejected', problem: 'Slack rejects SLACK_BOT_TOKEN (token_revoked)' },
      'Slack rejects SLACK_BOT_TOKEN (token_revoked). Nobody gets answers until it is valid',
    ],
  ])
  expect(await page()).toEqual(
    expect.arrayContaining([
      'lockkeeper_slack_call_duration_seconds_count{method="users.info",status="token-rejected"} 1',
      'lockkeeper_errors_total{where="slack"} 2',
    ]),
  )
})

test.each(['auth.test', 'apps.connections.open'])('%s leaves a rejected token to its caller', async (method) => {
  const { errors, onSlackCall, page } = arrange()

  onSlackCall({ method, status: 'refused', error: 'invalid_auth', ms: 1 })

  expect(errors).toEqual([])
  expect(await page()).toContain('lockkeeper_errors_total{where="slack"} 0')
})

test('another refusal of Slack is no rejected token', async () => {
  const { errors, onSlackCall, page } = arrange()

  onSlackCall({ method: 'chat.postMessage', status: 'refused', error: 'not_in_channel', ms: 1 })

  expect(errors).toEqual([])
  expect(await page()).toContain('lockkeeper_slack_call_duration_seconds_count{method="chat.postMessage",status="refused"} 1')
})
