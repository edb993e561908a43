import { createBot } from '../../src/bot.ts'
import { takeConfig } from '../../src/config.ts'
import { createLog } from '../../src/ops/log.ts'

/** The bot as a process of its own, with short waits: what takes a minute takes seconds. Everything else is as in production. */
const config = takeConfig(process.env)
const log = createLog({ level: config.logLevel })
const bot = createBot(config, { log, timings: { graceMs: 4_000, handoverMs: 4_000 } })
const endBadly = (error: unknown) => {
  log.fatal({ error }, 'a defect ended the process')
  process.exit(1)
}
process.on('uncaughtException', endBadly)
process.on('unhandledRejection', endBadly)
process.once('SIGTERM', () => void bot.stop().then(() => process.exit(0)))
await bot.start()
