import { inject, onTestFinished } from 'vitest'
import { people } from '../journeys/world.ts'
import { keysOfBot, signaturesOfBot } from '../requests/signatures-for-test.ts'
import { type AccountApiOptions, startAccountApi } from '../sandbox/account-api/start-account-api.ts'
import { botVariables } from '../sandbox/bot-process.ts'
import type { SlackOptions } from '../sandbox/slack/slack.ts'
import { startSlack } from '../sandbox/slack/start-slack.ts'
import { type BotsOptions, startBots } from './bots.ts'

export interface StandInWorldOptions extends BotsOptions {
  bots?: number
  account?: Partial<AccountApiOptions>
  env?: Record<string, string>
  slack?: SlackOptions
  /** Uses Socket Mode, where no request carries a time that the bot compares with its clock. */
  socketMode?: boolean
  /** Registers the end, for tests that run concurrently: `onTestFinished` of the test context. */
  onEnd?: (close: () => Promise<void>) => void
}

/** Starts the stand-ins in this process, and real bots as child processes. Closes everything when the test ends. */
export async function startStandInWorld({
  bots: count = 1,
  account = {},
  env = {},
  slack: slackOptions = {},
  socketMode = false,
  onEnd = onTestFinished,
  ...options
}: StandInWorldOptions) {
  const slack = await startSlack(slackOptions)
  const accountApi = await startAccountApi({ moveTakes: { min: 300, max: 300 }, ...account })
  const variables = {
    ...botVariables({ slack, accountApi, redisUrl: inject('redisUrl'), socketMode }),
    ALLOW_VOLATILE_REDIS: 'true',
    MOVE_POLL_INTERVAL: '200ms',
    OPEN_REQUESTS_PER_PERSON: '9999',
    ...env,
  }
  const bots = await startBots(count, variables, options)
  if (!socketMode) slack.connectBot(bots.url(0))
  onEnd(async () => {
    await bots.stop()
    await Promise.all([slack.close(), accountApi.close()])
  })
  const { REDIS_PREFIX: prefix } = variables
  const signing = { signatures: signaturesOfBot(variables), auditKeys: keysOfBot(variables) }
  return { slack, accountApi, bots, prefix, ...signing, ada: slack.as(people.ada), ben: slack.as(people.ben) }
}
