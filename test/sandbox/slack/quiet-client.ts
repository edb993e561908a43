import { type Logger, LogLevel, WebClient } from '@slack/web-api'

/** The library prints every refusal as an error. A test that expects one needs silence. */
export const quietLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  setLevel: () => {},
  getLevel: () => LogLevel.ERROR,
  setName: () => {},
}

/** Returns Slack's own client for a stand-in, without retries. */
export function quietClient(slack: { apiUrl: string; botToken: string }, token = slack.botToken): WebClient {
  return new WebClient(token, { slackApiUrl: slack.apiUrl, retryConfig: { retries: 0 }, rejectRateLimitedCalls: true, logger: quietLogger })
}
