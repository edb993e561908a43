import { type Mrkdwn, mrkdwn } from '../../../slack/text/text.ts'

/** One line of the report. `fix` says what to do. */
export interface CheckResult {
  is: 'ok' | 'wrong' | 'unknown'
  what: string
  words: Mrkdwn
  fix?: Mrkdwn
}

/** The beginning of each line. */
export const subjects = {
  slack: 'Slack',
  scopes: 'Slack scopes',
  manifest: 'App manifest',
  command: 'Command',
  buttons: 'Buttons',
  pickers: 'Pickers',
  channels: 'Channels',
  notices: 'Notices',
  groups: 'User groups',
  alerts: 'Alerts',
  redis: 'Redis',
  api: 'Account API',
  key: 'API key',
  readKey: 'Read-only key',
  limits: 'Limits',
  policy: 'Policy',
  elasticIps: 'Elastic IPs',
  clock: 'Clock',
  workers: 'Workers',
} as const

/** The words for a fact that could not be read. */
export const unavailable = (why: string) => mrkdwn`Couldn't check: ${why}.`

export function ok(what: string, words: Mrkdwn): CheckResult {
  return { is: 'ok', what, words }
}

export function wrong(what: string, words: Mrkdwn, fix: Mrkdwn): CheckResult {
  return { is: 'wrong', what, words, fix }
}

export function unknown(what: string, words: Mrkdwn, fix?: Mrkdwn): CheckResult {
  return { is: 'unknown', what, words, ...(fix ? { fix } : {}) }
}
