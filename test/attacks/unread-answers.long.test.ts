import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startScene } from '../faults/scene.ts'
import { policy as machinePolicy, otherToken, token, tokens } from '../features/machines/machines-world.ts'
import { alert, policy as alertPolicy, token as alertsToken, delivery, post } from '../journeys/alerts-world.ts'
import { policyInFile } from '../journeys/policy-in-file.ts'
import { ops } from '../journeys/world.ts'
import { plausibleHeaders } from './half-sent.ts'

/** A bot with all its ports and a heap that holds no more than it needs. */
async function startSmall() {
  const policy = `${machinePolicy.replace('"machine:agent", everyone', '"machine:agent", alerts, everyone')}${alertPolicy.slice(alertPolicy.indexOf('alerts:'))}`
  const world = await startScene({
    nodeOptions: ['--max-semi-space-size=2', '--max-old-space-size=112'],
    ackDeadlineMs: 20_000,
    env: { POLICY_FILE: policyInFile(policy), MACHINES_PORT: '0', ALERTS_PORT: '0', ALERTS_TOKEN: alertsToken, ...tokens },
  })
  const { url, alertsUrl, machinesUrl, opsUrl } = world.bots
  const portOf = (address: string) => Number(new URL(address).port)
  const ports = { slack: portOf(url(0)), machines: portOf(machinesUrl(0)), alerts: portOf(alertsUrl(0)), ops: portOf(opsUrl(0)) }

  /** What every port answers to those who may ask. */
  async function served() {
    const get = (url: string, headers = {}) => fetch(url, { headers }).then(({ status }) => status)
    return {
      slack: (await world.ada.command('/infra help', { channel: ops })).outcome,
      machines: await get(`${machinesUrl(0)}/v1/openapi.json`, { authorization: `Bearer ${otherToken}`, connection: 'close' }),
      alerts: await post({ alertsPort: ports.alerts }, JSON.stringify(delivery([alert({ alertname: 'Other' })])), { connection: 'close' }),
      ops: await get(`${opsUrl(0)}/metrics`, { connection: 'close' }),
    }
  }

  return { world, ports, served }
}

const allServed = { slack: 'acknowledged', machines: 200, alerts: 200, ops: 200 }

const requestOf = (line: string, headers: Record<string, string> = {}, body = '') =>
  `${line} HTTP/1.1\r\n${Object.entries({ host: 'x', ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}${body && `content-length: ${body.length}\r\n`}\r\n${body}`

/** Sends 128 kB of requests at once, and reads no answer. */
function sendUnread(port: number, request: string): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  socket.pause()
  socket.write(request.repeat(Math.ceil(131_072 / request.length)))
  onTestFinished(() => void socket.destroy())
  return socket
}

const untilClosed = (sockets: Socket[]) =>
  Promise.all(sockets.map((socket) => socket.closed || new Promise((resolve) => socket.resume().once('close', resolve))))

const bearer = (sent: string) => ({ authorization: `Bearer ${sent}` })
const call = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
const mcp = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

test('pipelined requests whose answers nobody reads end their connection, on every port, and the process serves others', async () => {
  const { world, ports, served } = await startSmall()
  expect(await served()).toEqual(allServed)

  for (const [port, request] of [
    ['machines', requestOf('GET /v1/openapi.json')],
    ['machines', requestOf('GET /v1/openapi.json', bearer(token))],
    ['machines', requestOf('POST /v1/requests', bearer('wrong'), '{}')],
    ['machines', requestOf('POST /mcp', { ...mcp, ...bearer('wrong') }, call)],
    ['machines', requestOf('POST /mcp', { ...mcp, ...bearer(token) }, call)],
    ['machines', requestOf('GET /v1/requests/00000000000000000000000000000000?wait=50', bearer(token))],
    ['ops', requestOf('GET /metrics')],
    ['ops', requestOf('GET /status')],
    ['ops', requestOf('GET /nothing')],
    ['alerts', requestOf('POST /alerts/alertmanager', bearer('wrong'), '{}')],
    ['alerts', requestOf('POST /alerts/alertmanager', bearer(alertsToken), '{"alerts":[]}')],
    ['slack', requestOf('GET /')],
    ['slack', requestOf('POST /slack/events', plausibleHeaders(), 'payload=x')],
    ['slack', 'GET / HTTP/1.1\r\n\r\n'],
    ['ops', requestOf('GET /metrics', { expect: 'nothing' })],
  ] as const) {
    const sockets = Array.from({ length: 16 }, () => sendUnread(ports[port], request))
    const what = `${port}: ${request.split('\r\n')[0]}`
    expect({ what, ...(await served()), crashes: world.bots.crashes }).toEqual({ what, ...allServed, crashes: [] })
    // Deliveries with the token are answered as fast as they arrive.
    if (!request.includes(alertsToken)) await untilClosed(sockets)
  }
}, 120_000)

test('headers without end, half-sent bodies and silence on every port keep nobody out', async () => {
  const { world, ports, served } = await startSmall()
  const starts = [
    '',
    'GET /metrics HTTP/1.1\r\nhost: x\r\n',
    `GET /metrics HTTP/1.1\r\nhost: x\r\nlong: ${'x'.repeat(64_000)}`,
    `POST /v1/requests HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: 60000\r\n\r\n{`,
    `POST /alerts/alertmanager HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${alertsToken}\r\ncontent-length: 60000\r\n\r\n{`,
  ]
  const sockets = Object.values(ports).flatMap((port) =>
    Array.from({ length: 300 }, (_, index) => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      socket.write(starts[index % starts.length] ?? '')
      return socket
    }),
  )
  onTestFinished(() => void sockets.map((socket) => socket.destroy()))
  await pause(500)

  expect({ ...(await served()), crashes: world.bots.crashes }).toEqual({ ...allServed, crashes: [] })
  await untilClosed(sockets)
}, 120_000)
