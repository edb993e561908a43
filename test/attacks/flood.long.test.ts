import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startScene } from '../faults/scene.ts'
import { origin, stateKey, usual } from '../journeys/passkeys-world.ts'
import { policyInFile } from '../journeys/policy-in-file.ts'
import { ops } from '../journeys/world.ts'
import { halfSend, plausibleHeaders } from './half-sent.ts'

const halfABody = Buffer.alloc(500_000, 'payload=')
const wholeBody = Buffer.alloc(1_000_000, 'payload=')
const nodeOptions = ['--max-semi-space-size=4', '--max-old-space-size=384']

/** A real bot with warm code, and the most memory that it has had since. */
async function startMeasured(env: Record<string, string> = {}) {
  // The stand-in shares this process with all that sends, so that it may take longer than Slack to read an answer.
  const world = await startScene({ nodeOptions, ackDeadlineMs: 20_000, env })
  const port = Number(new URL(world.bots.url(0)).port)
  for (let count = 0; count < 5; count += 1) await world.ada.command('/infra help', { channel: ops })

  async function residentBytes(): Promise<number> {
    const page = await (await world.bots.page(0, '/metrics')).text()
    return Number(/^process_resident_memory_bytes (\S+)$/m.exec(page)?.[1])
  }

  const before = await residentBytes()
  let most = before
  let isMeasuring = true
  onTestFinished(() => {
    isMeasuring = false
  })
  const measuring = (async () => {
    for (; isMeasuring; await delay(100)) most = Math.max(most, await residentBytes().catch(() => 0))
  })()

  /** By how much its memory has grown at most, in MB. */
  async function grownBy(): Promise<number> {
    isMeasuring = false
    await measuring
    return Math.round((most - before) / 1_000_000)
  }

  return { world, port, grownBy }
}

function flood(senders: number, send: () => Socket): Socket[] {
  const sockets = Array.from({ length: senders }, send)
  onTestFinished(() => void sockets.map((socket) => socket.destroy()))
  return sockets
}

/** Resolves when the bot has read all that a sender has sent, or has ended the connection. */
async function untilSent(sockets: Socket[]): Promise<void> {
  const isSending = (socket: Socket) => !socket.destroyed && socket.writableLength > 0
  while (sockets.some(isSending)) await delay(50)
  await delay(500)
}

type Sent = Parameters<typeof halfSend> extends [number, ...infer Rest] ? Rest : never

// 32 MB are held. The rest is garbage that Node has not collected yet: three times as many senders cost as much.
test.each<[senders: number, what: string, mostMb: number, sent: () => Sent]>([
  [300, 'half a body each to a path that does not exist', 60, () => ['POST /nothing', plausibleHeaders(), halfABody]],
  [
    900,
    'half of a body that is too large',
    250,
    () => ['POST /slack/events', { ...plausibleHeaders(), 'content-length': '1100000' }, halfABody],
  ],
  [900, 'half a body each', 250, () => ['POST /slack/events', plausibleHeaders(), halfABody]],
  // The bot reads all of these: more of them only take longer.
  [300, 'a whole body each', 250, () => ['POST /slack/events', plausibleHeaders(), wholeBody]],
])(
  '%i requests with headers that look signed, which send %s, cost under %i MB, and a signed command is acknowledged meanwhile',
  async (senders, what, mostMb, sent) => {
    const { world, port, grownBy } = await startMeasured()

    const sockets = flood(senders, () => halfSend(port, ...sent()))
    const during = await world.ada.command('/infra help', { channel: ops })
    await untilSent(sockets)
    const after = await world.ada.command('/infra help', { channel: ops })

    const grown = await grownBy()
    console.log(JSON.stringify({ sent: what, grownByMb: grown }))
    expect([during.outcome, after.outcome]).toEqual(['acknowledged', 'acknowledged'])
    expect(grown).toBeLessThan(mostMb)
    expect(world.bots.crashes).toEqual([])
  },
)

test('900 strangers at the page of passkeys, with guesses, half bodies and bodies that are too large, cost under 150 MB, and a signed command is acknowledged', async () => {
  const { world, port, grownBy } = await startMeasured({ PUBLIC_URL: origin, STATE_KEY: stateKey, POLICY_FILE: policyInFile(usual) })
  const path = `/passkeys/${'A'.repeat(22)}.01234567.${'A'.repeat(43)}`
  const json = { origin, 'content-type': 'application/json' }

  const sockets = flood(900, () => halfSend(port, `POST ${path}`, json, halfABody))
  const guesses = Array.from({ length: 300 }, async () => {
    const { status } = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } }).catch(() => ({ status: 0 }))
    return status
  })
  const during = await world.ada.command('/infra help', { channel: ops })
  await untilSent(sockets)
  const statuses = new Set(await Promise.all(guesses))
  const after = await world.ada.command('/infra help', { channel: ops })

  const grown = await grownBy()
  console.log(JSON.stringify({ to: 'the page of passkeys', grownByMb: grown }))
  expect([during.outcome, after.outcome]).toEqual(['acknowledged', 'acknowledged'])
  expect([...statuses].filter((status) => ![0, 404].includes(status))).toEqual([])
  expect(grown).toBeLessThan(150)
  expect(world.bots.crashes).toEqual([])
})

test('a connection that sends nothing, headers slowly, or a body slowly, is ended', async () => {
  const { port } = await startMeasured()
  const silent = halfSend(port, 'POST /slack/events', plausibleHeaders(), '')
  const slow = halfSend(port, 'POST /slack/events', plausibleHeaders(), '')
  const dripping = setInterval(() => slow.write('x'), 200)
  onTestFinished(() => clearInterval(dripping))

  await Promise.all([silent, slow].map((socket) => socket.closed || once(socket.resume(), 'close')))

  expect([silent.destroyed, slow.destroyed]).toEqual([true, true])
}, 30_000)
