import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The least that can acknowledge a slash command: checks the signature of the body and answers 200. */
const secret = process.env.SLACK_SIGNING_SECRET ?? ''

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const timestamp = Number(request.headers['x-slack-request-timestamp'])
    const body = Buffer.concat(chunks).toString()
    const wanted = Buffer.from(`v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`)
    const given = Buffer.from(String(request.headers['x-slack-signature']))
    const fresh = Math.abs(Date.now() / 1_000 - timestamp) < 300
    response.writeHead(fresh && given.length === wanted.length && timingSafeEqual(given, wanted) ? 200 : 401).end()
  })
})
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ slackPort: (server.address() as AddressInfo).port })))
