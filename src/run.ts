import { type Bot, createBot, type Outlets } from './bot/bot.ts'
import { ConfigError, takeConfig } from './config/config.ts'
import { StartError } from './domain/errors.ts'
import { changeKinds } from './features/index.ts'
import { createLog } from './ops/log/log.ts'
import { describeError } from './ops/log/safe-value.ts'

/** The process around the bot: starts it from these variables, ends it when a signal asks for it, and with 1 and a line where it cannot start. */
export async function run(env: NodeJS.ProcessEnv, outlets: Pick<Outlets, 'timings'> = {}): Promise<void> {
  let isEnding = false
  let bot: Bot | undefined

  try {
    const config = takeConfig(env, { kinds: changeKinds })
    const log = createLog({ level: config.logLevel })
    for (const name of config.unusedVariables) log.warn({ variable: name }, 'not used: POLICY_FILE is the whole policy')
    for (const warning of config.warnings) log.warn(warning)
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
    // What nobody expected ends the process, so that it is started anew: everything that matters is in Redis, and a bot that only seems
    // to run (a Socket Mode client that gave up) is worse than one that starts again. Through the log, which cuts what hangs on errors.
    const endBadly = (error: unknown) => {
      log.fatal({ error }, 'a defect ended the process')
      process.exit(1)
    }
    process.on('uncaughtException', endBadly)
    process.on('unhandledRejection', endBadly)

    await started.start()
  } catch (error) {
    // A start that the end cuts short has not failed: the process ends once everything is closed.
    if (isEnding) return
    const lines =
      error instanceof ConfigError ? error.lines : [error instanceof StartError ? error.message : JSON.stringify(describeError(error))]
    for (const line of lines) process.stderr.write(`${line}\n`)
    // A worker may have been at work for hours when Slack comes back and rejects the token.
    await bot?.stop()
    process.exit(1)
  }
}
