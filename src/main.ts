import { createBot } from './bot.ts'
import { ConfigError, takeConfig } from './config.ts'
import { StartError } from './domain/errors.ts'
import { createLog } from './ops/log.ts'
import { describeError } from './ops/safe-value.ts'

try {
  const config = takeConfig(process.env)
  const log = createLog({ level: config.logLevel })
  const bot = createBot(config, { log })

  const end = async (signal: string) => {
    log.info({ signal }, 'stopping')
    await bot.stop()
    process.exit(0)
  }
  process.once('SIGTERM', end)
  process.once('SIGINT', end)
  // A promise that nobody waited for is a defect, and ends neither the moves in flight nor the conversation with people.
  // Through the log, which cuts what hangs on errors: Node would print all of it.
  process.on('uncaughtException', (error) => {
    log.fatal({ error }, 'a defect ended the process')
    process.exit(1)
  })
  process.on('unhandledRejection', (error) => log.error({ error }, 'unhandled rejection'))

  await bot.start()
} catch (error) {
  const lines =
    error instanceof ConfigError ? error.lines : [error instanceof StartError ? error.message : JSON.stringify(describeError(error))]
  for (const line of lines) process.stderr.write(`${line}\n`)
  process.exit(1)
}
