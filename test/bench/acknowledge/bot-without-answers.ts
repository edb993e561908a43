import { createBot } from '../../../src/bot/bot.ts'
import { takeConfig } from '../../../src/config/config.ts'
import { changeKinds } from '../../../src/features/index.ts'
import { createLog } from '../../../src/ops/log/log.ts'

/**
 * The whole bot, but for what a command does: signature, acknowledgement, de-duplication and authorization are all there is. What a
 * command then does and answers comes after the acknowledgement, and is another matter.
 */
const config = takeConfig(process.env, { kinds: changeKinds })
const bot = createBot(config, { log: createLog({ level: config.logLevel }) })
bot.interactions.command = () => async () => {}
await bot.start()
