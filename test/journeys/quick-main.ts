import { takeConfig } from '../../src/config/config.ts'
import { bundles, changeKinds } from '../../src/features/index.ts'
import { createLog } from '../../src/ops/log.ts'
import { createBot } from '../../src/start/bot.ts'

/** Runs the bot as its own process, with the most detailed log and short waits: what takes a minute takes a second. */
const config = takeConfig(process.env, { kinds: changeKinds, bundles })
const log = createLog({ level: 'trace' })
const bot = createBot(config, { log, timings: { graceMs: 1_000, unsettledMs: 1_000, handoverMs: 1_500 } })
await bot.start()
