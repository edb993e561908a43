import { Secret } from '../../../src/domain/signing/secret.ts'
import { createLog } from '../../../src/ops/log/log.ts'
import { createRepeatedLines } from '../../../src/ops/log/repeated-lines.ts'
import { slackLogger } from '../../../src/ops/log/slack-logger.ts'
import { listen } from '../../../src/slack/listen/listen.ts'
import { createBoltApp } from '../../../src/slack/receive/app.ts'

/** Runs the bot's receiver and listeners up to the acknowledgement. Every command counts as a duplicate, so that no work follows. */
const settings = {
  botToken: new Secret('xoxb-bench'),
  signingSecret: new Secret(process.env.SLACK_SIGNING_SECRET ?? ''),
  appToken: undefined,
  apiUrl: new URL(process.env.SLACK_API_URL ?? ''),
  host: '127.0.0.1',
  port: 0,
  trustedProxies: [],
}
const nothing = async () => {}
const log = createLog({ level: 'info' })
const logger = slackLogger(log, createRepeatedLines(log))
const { app, start } = createBoltApp(settings, { botId: 'B1', botUserId: 'U1' }, logger as never, {
  respond: nothing as never,
  onUnhandled: (unhandled) => console.error(unhandled),
})
listen(app, {
  handlers: {
    command: () => nothing,
    commandNamed: () => ({ name: 'any', takesReason: false }),
    clicks: {},
    submissions: {},
    shortcuts: {},
    options: {},
    home: nothing,
  },
  authorize: nothing,
  isFirstDelivery: async () => false,
  command: '/infra',
  messenger: {} as never,
  openForm: nothing as never,
  respond: nothing as never,
  onError: (error) => console.error(error),
})
console.log(JSON.stringify({ slackPort: await start() }))
