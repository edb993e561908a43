import { setTimeout as delay } from 'node:timers/promises'
import { expect, inject, onTestFinished, test } from 'vitest'
import { ops, untilCard, untilReport } from '../journeys/world.ts'
import { startStandInWorld } from './stand-in-world.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

/** Longer than the lock of a job (30 s), of a tick (6 s) and of a message that is being sent (10 s). */
const usualBlockMs = 35_000
/** Longer than the lock of a message, and shorter than the silence (15 s) after which a connection is given up with all that came on it. */
const shortBlockMs = 13_000

/** Later than anything that the blocked bot may still do with what it was in the middle of. */
const aftermathMs = 4_000

const blockedLoop = new URL('./blocked-loop.ts', import.meta.url).href

type Blocking = 'stopped by a signal' | 'busy in JavaScript'

interface Standstill {
  world: Awaited<ReturnType<typeof startStandInWorld>>
  /** Between the blocked bot and Redis. */
  proxy: TcpProxy
  elasticIpId: string
  block: () => void
  /** The bot is not blocked any more. */
  over: Promise<void>
}

/** Where it stands still: each blocks the bot at the moment when what it sent arrives. Gives how often that has happened. */
const moments = {
  'the look before the write': ({ world, elasticIpId, block }: Standstill) => {
    const path = `/elastic_ips/${elasticIpId}`
    const fault = world.accountApi.faults.add({ method: 'GET', path, kind: 'delay', delayMs: 200, meanwhile: block })
    return () => fault.fired
  },
  // It reaches Redis only when another bot has done it all: there it is decided that it comes too late.
  'the claim of the write': ({ proxy, block, over }: Standstill) => {
    const isClaim = (sent: Buffer) => {
      const fits = sent.includes('"name":"send"')
      if (fits) block()
      return fits
    }
    proxy.holdSent(isClaim, over)
    return () => proxy.fired.held
  },
  'the write': ({ world, elasticIpId, block }: Standstill) => {
    const path = `/elastic_ips/${elasticIpId}`
    const fault = world.accountApi.faults.add({ method: 'PATCH', path, kind: 'delay', delayMs: 200, meanwhile: block })
    return () => fault.fired
  },
  // What it learns of its turn to send comes when another bot has sent the report.
  'its turn to send the report': ({ proxy, block }: Standstill) => {
    const isLease = (sent: Buffer) => {
      const fits = sent.includes('\r\nended\r\n') && sent.includes('\r\n20000\r\n')
      if (fits) block()
      return fits
    }
    proxy.holdSent(isLease, Promise.resolve())
    return () => proxy.fired.held
  },
  'the report': ({ world, block }: Standstill) => {
    const isReport = (args: Record<string, unknown>) => {
      if (args.thread_ts !== undefined) block()
      return args.thread_ts !== undefined
    }
    const fault = world.slack.faults.add({ method: 'chat.postMessage', kind: 'delay', delayMs: 200, when: isReport })
    return () => fault.fired
  },
}
type Moment = keyof typeof moments

/** One bot is blocked there for longer than every lock; a second one comes when it is. */
async function blockAt(moment: Moment, blocking: Blocking) {
  const address = new URL(inject('redisUrl'))
  const proxy = await startTcpProxy({ port: Number(address.port), host: address.hostname })
  onTestFinished(() => proxy.close())
  address.port = String(proxy.port)
  const own = (index: number): Record<string, string> => (index === 0 ? { REDIS_URL: address.href } : {})
  const nodeOptions = ['--import', blockedLoop]
  const blockMs = moment === 'its turn to send the report' ? shortBlockMs : usualBlockMs
  const world = await startStandInWorld({ bots: 2, atOnce: 1, nodeOptions, own, env: { BLOCK_MS: String(blockMs) } })
  const { accountApi, slack, bots } = world
  const { elasticIp, target } = accountApi.world.movable()
  await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  const card = await untilCard(slack, /Waiting for approval/)

  const blocked = Promise.withResolvers<number>()
  const over = Promise.withResolvers<void>()
  let isBlocked = false
  const block = () => {
    if (isBlocked) return
    isBlocked = true
    bots.signal(0, blocking === 'stopped by a signal' ? 'SIGSTOP' : 'SIGUSR2')
    blocked.resolve(Date.now())
  }
  const fired = moments[moment]({ world, proxy, elasticIpId: elasticIp.id, block, over: over.promise })
  await world.ben.click(card, 'Approve')
  const blockedAt = await blocked.promise
  await bots.start(1)
  const report = slack.until(() => slack.thread(ops, card.ts).find(({ text }) => /\*Done/.test(text)), { timeoutMs: usualBlockMs })
  const takenOverAfterMs = await report.then(() => Date.now() - blockedAt)
  await delay(blockedAt + blockMs - Date.now())
  if (blocking === 'stopped by a signal') bots.signal(0, 'SIGCONT')
  over.resolve()

  slack.connectBot(bots.url(0))
  await expect
    .poll(async () => (await world.ada.command('/infra help', { channel: ops })).outcome, { timeout: 20_000, interval: 500 })
    .toBe('acknowledged')
  await delay(aftermathMs)
  await untilReport(slack, card.ts, /Done/)

  console.log(JSON.stringify({ moment, blocking, takenOverAfterMs }))
  return {
    fired: fired(),
    writes: accountApi.journal.writes().length,
    reports: slack.thread(ops, card.ts).length - 1,
    cards: slack.messages(ops).filter(({ isBot }) => isBot).length,
    on: accountApi.world.elasticIp(elasticIp.id)?.serverId === target.id,
    crashes: bots.crashes,
    stoodStill: blocking === 'stopped by a signal' || bots.log.some((line) => line.includes('the event loop stands still')),
  }
}

test.each(['stopped by a signal', 'busy in JavaScript'] as const)(
  'a bot that is %s for longer than its locks last is made up for by another, and when it goes on nothing is written or told a second time',
  async (blocking) => {
    const names = Object.keys(moments) as Moment[]

    const outcomes = await Promise.all(names.map(async (moment) => ({ moment, ...(await blockAt(moment, blocking)) })))

    const asItShouldBe = { fired: 1, writes: 1, reports: 1, cards: 1, on: true, crashes: [], stoodStill: true }
    expect(outcomes).toEqual(names.map((moment) => ({ moment, ...asItShouldBe })))
  },
  120_000,
)
