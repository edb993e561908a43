import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Slack and the account API in one, as small and fast as possible: everybody is a member, every channel is a usual one, every list is
 * empty.
 */
const answers: Record<string, unknown> = {
  'auth.test': { ok: true, user_id: 'UBOT', bot_id: 'BBOT', team_id: 'T1', url: 'https://bench.slack.com/' },
  'users.info': { ok: true, user: { id: 'U0ADA00001', team_id: 'T1', name: 'ada' } },
  'conversations.info': { ok: true, channel: { id: 'C1' } },
}

const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    const last = (request.url ?? '').split('?')[0]?.split('/').at(-1) ?? ''
    const text = JSON.stringify(answers[last] ?? { ok: true, data: [] })
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: (server.address() as AddressInfo).port })))
