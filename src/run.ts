import { ConfigError, takeConfig } from './config/config.ts'
import { StartError } from './domain/errors.ts'
import { cleanText } from './domain/text.ts'
import { bundles, changeKinds, confirmations, neverExempt } from './features/index.ts'
import { createLog, describeError, type Log } from './ops/log.ts'
import type { Outlets } from './start/apps.ts'
import { type Bot, createBot } from './start/bot.ts'

/** Runs the bot until a signal. Exits with 1 and a line for each problem if it cannot start. */
export async function run(env: NodeJS.ProcessEnv, outlets: Pick<Outlets, 'timings'> = {}): Promise<void> {
  let isEnding = false
  let bot: Bot | undefined

  try {
    const config = takeConfig(env, { kinds: changeKinds, bundles, neverExempt, confirmations })
    const log: Log = createLog({ level: config.logLevel })
    for (const warning of config.warnings) log.warn({ code: 'configuration-warning' }, warning)
    if (config.signsWithApiKey) {
      log.info(
        {},
        'STATE_KEY is not set, so a key derived from INFRA_API_KEY signs. When that key is rotated, open requests must be requested again',
      )
    }
    const started = createBot(config, { log, ...outlets })
    bot = started

    const end = async (signal: string) => {
      isEnding = true
      log.info({ signal }, 'stopping')
      await started.stop()
      process.exit(0)
    }
    process.once('SIGTERM', end)
    process.once('SIGINT', end)
    // An unexpected error ends the process, and an orchestrator restarts it. Nothing is lost, because all state is in Redis. A process that
    // keeps running without a working part, such as a Socket Mode client that gave up, would be worse. The log removes secrets from the error.
    const endBadly = (error: unknown) => {
      log.fatal({ code: 'defect', error }, 'A defect ended the process')
      process.exit(1)
    }
    process.on('uncaughtException', endBadly)
    process.on('unhandledRejection', endBadly)

    await started.start()
  } catch (error) {
    // A signal during the start is no failure. `end` exits once everything is closed.
    if (isEnding) return
    const lines =
      error instanceof ConfigError ? error.lines : [error instanceof StartError ? error.message : JSON.stringify(describeError(error))]
    for (const line of lines) process.stderr.write(`${cleanText(line)}\n`)
    // The worker may already be running: it starts while Slack is away, and Slack can reject the token hours later.
    await bot?.stop()
    process.exit(1)
  }
}
