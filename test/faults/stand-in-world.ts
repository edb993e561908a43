import { randomBytes } from 'node:crypto'
import { inject, onTestFinished } from 'vitest'
import { people } from '../journeys/world.ts'
import { type AccountApiOptions, startAccountApi } from '../sandbox/account-api/start-account-api.ts'
import { startSlack } from '../sandbox/slack/start-slack.ts'
import { type BotsOptions, startBots } from './bots.ts'

export interface StandInWorldOptions extends BotsOptions {
  bots?: number
  account?: Partial<AccountApiOptions>
  env?: Record<string, string>
  /** Socket Mode, where no request carries a time that is compared with the bot's clock. */
  socketMode?: boolean
}

/** The stand-ins in this process, and real bots in processes of their own, to which anything can be done; closed when the test ends. */
export async function startStandInWorld({ bots: count = 1, account = {}, env = {}, socketMode = false, ...options }: StandInWorldOptions) {
  const slack = await startSlack()
  const accountApi = await startAccountApi({ moveTakes: { min: 300, max: 300 }, ...account })
  const prefix = `test-${randomBytes(6).toString('hex')}`
  const variables = {
    SLACK_BOT_TOKEN: slack.botToken,
    ...(socketMode ? { SLACK_APP_TOKEN: slack.appToken } : { SLACK_SIGNING_SECRET: slack.signingSecret }),
    SLACK_API_URL: slack.apiUrl,
    INFRA_API_URL: accountApi.url,
    INFRA_API_KEY: accountApi.key,
    REDIS_URL: inject('redisUrl'),
    REDIS_PREFIX: prefix,
    ALLOW_VOLATILE_REDIS: 'true',
    APPROVERS: 'S0ONCALL01',
    MOVE_POLL_INTERVAL: '200ms',
    ...env,
  }
  const bots = await startBots(count, variables, options)
  if (!socketMode) slack.connectBot(bots.url(0))
  onTestFinished(async () => {
    await bots.stop()
    await Promise.all([slack.close(), accountApi.close()])
  })
  return { slack, accountApi, bots, prefix, ada: slack.as(people.ada), ben: slack.as(people.ben) }
}
