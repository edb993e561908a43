import type { AddressInfo } from 'node:net'
import { App, HTTPReceiver } from '@slack/bolt'

/** The base: plain Bolt, with one listener that acknowledges with the text of the command. */
const receiver = new HTTPReceiver({ signingSecret: process.env.SLACK_SIGNING_SECRET ?? '', port: 0 })
const app = new App({ receiver, authorize: async () => ({ botToken: 'xoxb-bench', botId: 'B1', botUserId: 'U1' }) })
app.command('/infra', async ({ command, ack }) => {
  await ack(command.text)
})
const server = await app.start()
console.log(JSON.stringify({ slackPort: (server.address() as AddressInfo).port }))
