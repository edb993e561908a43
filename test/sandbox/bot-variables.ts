import { randomBytes } from 'node:crypto'
import type { AccountApi } from './account-api/start-account-api.ts'
import type { Slack } from './slack/slack.ts'

interface Surroundings {
  slack: Pick<Slack, 'botToken' | 'appToken' | 'signingSecret' | 'apiUrl'>
  accountApi: Pick<AccountApi, 'url' | 'key'>
  redisUrl: string
  /** Uses Socket Mode instead of HTTP. Default: false. */
  socketMode?: boolean
}

/** Tests make more calls in a minute than the account allows. Those of the limits set them. */
export const withoutLimits = { INFRA_READS_PER_MINUTE: '99999', INFRA_WRITES_PER_MINUTE: '99999', MOVE_POLL_BUDGET: '99999' }

/** Returns the variables of a bot between these stand-ins: with its own prefix in Redis, free ports, and the group on call as approvers. */
export function botVariables({ slack, accountApi, redisUrl, socketMode = false }: Surroundings) {
  return {
    SLACK_BOT_TOKEN: slack.botToken,
    ...(socketMode ? { SLACK_APP_TOKEN: slack.appToken } : { SLACK_SIGNING_SECRET: slack.signingSecret }),
    SLACK_API_URL: slack.apiUrl,
    INFRA_API_URL: accountApi.url,
    INFRA_API_KEY: accountApi.key,
    ...withoutLimits,
    REDIS_URL: redisUrl,
    REDIS_PREFIX: `test-${randomBytes(6).toString('hex')}`,
    APPROVERS: 'S0ONCALL01',
    PORT: '0',
    OPS_PORT: '0',
  }
}
