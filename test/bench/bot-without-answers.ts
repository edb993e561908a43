import { takeConfig } from '../../src/config/config.ts'
import { bundles, changeKinds } from '../../src/features/index.ts'
import { createLog } from '../../src/ops/log.ts'
import { createBot } from '../../src/start/bot.ts'

/**
 * Runs the whole bot with commands that do nothing: signature, acknowledgement, de-duplication and authorization remain. The work of a
 * command comes after its acknowledgement and is measured separately.
 */
const config = takeConfig(process.env, { kinds: changeKinds, bundles })
const bot = createBot(config, { log: createLog({ level: config.logLevel }) })
for (const command of bot.commands) command.run = async () => {}
await bot.start()
