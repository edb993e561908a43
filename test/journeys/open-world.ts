import { readConfig } from '../../src/config/config.ts'
import { type Timings, usualTimings } from '../../src/domain/timings.ts'
import { bundles, changeKinds, confirmations, neverExempt } from '../../src/features/index.ts'
import { createLog } from '../../src/ops/log.ts'
import { createBot } from '../../src/start/bot.ts'
import { keyringOfBot, keysOfBot, signaturesOfBot } from '../given/signatures.ts'
import { type AccountApiOptions, startAccountApi } from '../sandbox/account-api/start-account-api.ts'
import { botVariables } from '../sandbox/bot-process.ts'
import type { Slack, SlackOptions } from '../sandbox/slack/slack.ts'
import { startSlack } from '../sandbox/slack/start-slack.ts'

/** The people of the sandbox's workspace. */
export const people = { ada: 'U0ADA00001', ben: 'U0BEN00001', chiara: 'U0CHI00001', dov: 'U0DOV00001' }
export interface WorldOptions {
  env?: Record<string, string>
  account?: Partial<AccountApiOptions>
  slack?: SlackOptions
  /** Adds people and user groups before a bot starts, which checks those of its policy. */
  staff?: (workspace: Slack['workspace']) => void
  /** Shortened, so that a test can see what takes a minute. */
  timings?: Timings
  /** The number of bots that share the work. People use the first one. */
  replicas?: number
  /** Socket Mode instead of HTTP. */
  socketMode?: boolean
}

/**
 * Starts the whole bot in this process, between the stand-in Slack, the stand-in account API and a real Redis. `log` holds every line that
 * the bots wrote.
 */
export async function openWorld(redisUrl: string, options: WorldOptions = {}) {
  const { env = {}, account = {}, replicas = 1, socketMode = false, timings = usualTimings } = options
  // A busy machine makes tests slow, and never red.
  const slack = await startSlack({ triggerLifeMs: 20_000, ackDeadlineMs: 20_000, ...options.slack })
  options.staff?.(slack.workspace)
  const accountApi = await startAccountApi({ moveTakes: { min: 150, max: 300 }, ...account })
  const log: string[] = []
  /** The lines that the audit printed. */
  const auditLines: string[] = []

  const variables = {
    ...botVariables({ slack, accountApi, redisUrl, socketMode }),
    ALLOW_VOLATILE_REDIS: 'true',
    MOVE_POLL_INTERVAL: '250ms',
    ...env,
  }

  /** `more`: additional variables for this bot. */
  async function startBot(more: Record<string, string> = {}) {
    const bot = createBot(readConfig({ ...variables, ...more }, { kinds: changeKinds, bundles, neverExempt, confirmations }), {
      timings,
      printAudit: (line) => void auditLines.push(line),
      log: createLog({ level: 'debug', destination: { write: (line: string) => void log.push(line) } }),
    })
    const ports: { [Name in 'slackPort' | 'alertsPort' | 'machinesPort']?: number | undefined } & { opsPort: number } = await bot.start()
    return { ...bot, ...ports, slackUrl: `http://127.0.0.1:${ports.slackPort}/slack/events` }
  }

  const bots = await Promise.all(Array.from({ length: replicas }, () => startBot()))
  if (bots[0] && !socketMode) slack.connectBot(bots[0].slackUrl)

  async function close(): Promise<void> {
    await Promise.all(bots.map((bot) => bot.stop()))
    await Promise.all([slack.close(), accountApi.close()])
  }

  return {
    slack,
    accountApi,
    bots,
    log,
    auditLines,
    prefix: variables.REDIS_PREFIX,
    signatures: signaturesOfBot(variables),
    recordKeyring: keyringOfBot(variables, 'records'),
    auditKeys: keysOfBot(variables),
    startBot,
    close,
    ada: slack.as(people.ada),
    ben: slack.as(people.ben),
    chiara: slack.as(people.chiara),
    dov: slack.as(people.dov),
  }
}
export type World = Awaited<ReturnType<typeof openWorld>>
