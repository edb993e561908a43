/**
 * Every field that a line of the log can have besides `time`, `level` and `msg`, with its meaning for docs/logs.md. A test compares both.
 * Each field means one thing in all lines, so that a search by a field finds everything about it.
 */
export const logFields = {
  code: 'which error it is; [its paragraph](alerts-and-errors.md) says what to do. Lines from `warn` on have one',
  requestId: 'the request, as in the audit and in Redis',
  step: 'the step of the request or of its item, by its name in [the states of a request](request-states.md), or `request` for its creation',
  state: 'the state after the step',
  item: 'the item of the request whose step it is',
  kind: 'the kind of change, such as `ip.move`; or the kind of a Slack payload',
  userId: 'a person, by their Slack user id',
  reads: 'how many reads a minute one person may spend',
  sinceApprovalMs: 'from the last approval to the write, in milliseconds',
  tookMs: 'from the write to the end, in milliseconds',
  error:
    'an error: its `name`, `message`, `code`, `operation`, `status`, `codes`, `stack` and `cause`, those that it has. A refusal has no `message`, because it quotes what a person typed',
  at: 'the command, button or form that a person used',
  reference: 'the reference that the person was shown with the error',
  operation: 'a call to the account API, such as `elasticIps.move`',
  attempt: 'the number of the attempt, from 1',
  status: 'the HTTP status of an answer, `contract` or `unreachable`',
  ms: 'how long a call took, in milliseconds',
  left: 'how many items of a list were left out',
  check: 'a check of `/status`',
  problem: 'what is wrong, as a sentence or a code',
  afterMs: 'how long a check had failed or an error had recurred, in milliseconds',
  repeats: 'how many more errors like it there have been since its first line',
  lastAt: 'when the last repeat was (ISO 8601). The line itself comes up to a minute later',
  nextTryInMs: 'the time to the next attempt, in milliseconds',
  members: 'the members of a Slack payload that are missing',
  from: '`slack`: written by a library of Slack, or by the port for Slack',
  path: 'a page of the operations port',
  variable: 'a variable of the configuration',
  role: '`all`, `web` or `worker`',
  transport: '`http` or `socket mode`',
  slackPort: 'the port for Slack',
  alertsPort: 'the port for alerts',
  opsPort: 'the operations port',
  signal: 'the signal that stops the process',
} as const
export type LogField = keyof typeof logFields
