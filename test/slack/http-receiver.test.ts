import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import type { App } from '@slack/bolt'
import { expect, onTestFinished, test } from 'vitest'
import { httpReceiver } from '../../src/slack/http-receiver.ts'
import { form, nowSeconds, plausibleHeaders } from '../attacks/half-sent.ts'
import { signatureOf } from '../sandbox/slack/transport.ts'

const signingSecret = 'signing-secret-of-the-test'
const nothing = () => {}
const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing, setLevel: nothing, getLevel: nothing, setName: nothing }

async function startReceiver(refused: string[] = []): Promise<number> {
  const onRefused = (reason: string) => void refused.push(reason)
  const receiver = httpReceiver({
    signingSecrets: ['signing-secret-of-before', signingSecret],
    logger: logger as never,
    teamId: 'T0NIMBUS01',
    onRefused,
  })
  receiver.init({ processEvent: async ({ ack }: { ack: () => Promise<void> }) => ack() } as unknown as App)
  const port = await receiver.start({ host: '127.0.0.1', port: 0 })
  onTestFinished(async () => void (await receiver.stop()))
  return port as number
}

interface Sent {
  method?: string
  path?: string
  body?: string
  headers?: Record<string, string>
}

function signed(body: string, contentType = form, secret = signingSecret): Sent {
  const timestamp = nowSeconds()
  const signature = signatureOf(secret, timestamp, body)
  return { body, headers: { 'content-type': contentType, 'x-slack-request-timestamp': String(timestamp), 'x-slack-signature': signature } }
}

/** Sends a request over a connection of its own, which the caller can send more over. */
function openConnection(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())

  return async function send({ method = 'POST', path = '/slack/events', body = '', headers = {} }: Sent): Promise<string> {
    const sending = request({ port, host: '127.0.0.1', agent, method, path, headers: { ...headers, 'content-length': body.length } })
    sending.end(body)
    const [answer] = (await once(sending, 'response')) as [IncomingMessage]
    answer.resume()
    await once(answer, 'end')
    return `${answer.statusCode} ${answer.headers.connection}`
  }
}

const command = signed('command=%2Finfra&text=help')
const probe: Sent = { method: 'GET', path: '/' }

test.each<[string, Sent, string]>([
  ['another path', probe, '404 close'],
  ...['GET /slack/events', 'POST /slack/events/', 'PUT /slack/events', 'POST //', 'HEAD /.env'].map((line): [string, Sent, string] => {
    const [method, path] = line.split(' ')
    return [`a signature, and the line ${line}`, { ...command, method, path }, '404 close']
  }),
  ['no signature', { headers: { 'content-type': form }, body: 'payload='.repeat(30) }, '401 close'],
  ['a wrong signature', { headers: plausibleHeaders(), body: 'payload=x' }, '401 close'],
  ['the signature of an empty secret', signed('command=%2Finfra', form, ''), '401 close'],
  ['an old time stamp', { headers: plausibleHeaders(nowSeconds() - 310), body: 'payload=x' }, '401 close'],
  ['a time stamp of the future', { headers: plausibleHeaders(nowSeconds() + 310), body: 'payload=x' }, '401 close'],
  ['no time stamp', { ...command, headers: { ...command.headers, 'x-slack-request-timestamp': '' } }, '401 close'],
  ['a time stamp that is none', { ...command, headers: { ...command.headers, 'x-slack-request-timestamp': 'now' } }, '401 close'],
  [
    'the header of an event of Socket Mode',
    { headers: { ...plausibleHeaders(), 'x-slack-socket-mode': '1' }, body: 'payload=x' },
    '401 close',
  ],
  ['a body that is too large', { headers: plausibleHeaders(), body: 'x'.repeat(1_048_577) }, '413 close'],
  ['a signature, and a body that is too large', signed(`payload=${'x'.repeat(1_048_577)}`), '413 close'],
  ['another content type', { headers: { ...plausibleHeaders(), 'content-type': 'text/plain' } }, '415 close'],
  ["Slack's certificate check, which anybody can send", { headers: { 'content-type': form }, body: 'ssl_check=1' }, '200 close'],
  ['a signature', command, '200 keep-alive'],
  ['a signature with the secret that is being replaced', signed('command=%2Finfra', form, 'signing-secret-of-before'), '200 keep-alive'],
  [
    'a signature, and a body with the end of a head in it',
    signed('command=%2Finfra&text=\r\n\r\nGET / HTTP/1.1\r\n\r\n'),
    '200 keep-alive',
  ],
  ['a signature, and the wrong content', signed('{}'), '400 keep-alive'],
])('the connection of a request with %s', async (_, sent, answer) => {
  const send = openConnection(await startReceiver())

  expect(await send(sent)).toBe(answer)
})

const { 'x-slack-signature': signature = '' } = command.headers ?? {}

test.each([
  ['another version', signature.replace('v0', 'v1')],
  ['no version', signature.slice('v0='.length)],
  ['its beginning alone', signature.slice(0, -1)],
  ['its version alone', 'v0='],
  ['something behind it', `${signature}=${signature}`],
  ['capitals', signature.toUpperCase()],
  ['as many characters, and more bytes', signature.replace(/.$/, 'ü')],
  ['another digit', signature.replace(/.$/, (last) => (last === '0' ? '1' : '0'))],
])('a valid signature with %s is none', async (_, changed) => {
  const send = openConnection(await startReceiver())

  expect(await send({ ...command, headers: { ...command.headers, 'x-slack-signature': changed } })).toBe('401 close')
})

test('with no secret, everybody could sign, so there is no receiver', () => {
  expect(() => httpReceiver({ signingSecrets: [''], logger: logger as never, onRefused: nothing })).toThrow('no signing secret')
})

test('what is refused is counted by reason, and a wrong signature apart if its body names the workspace', async () => {
  const refused: string[] = []
  const send = openConnection(await startReceiver(refused))

  await send({ headers: plausibleHeaders(), body: 'team_id=T0NIMBUS01&command=%2Finfra' })
  await send({ headers: plausibleHeaders(), body: `payload=${encodeURIComponent('{"team":{"id":"T0NIMBUS01"}}')}` })
  await send({ headers: plausibleHeaders(), body: 'team_id=T0STRANGER' })
  await send({ headers: plausibleHeaders(nowSeconds() - 310), body: 'team_id=T0NIMBUS01' })
  for (const each of [probe, command]) await send(each)

  const ours = 'wrong signature for this workspace'
  expect(refused).toEqual([ours, ours, 'wrong signature', 'time stamp off'])
})
