import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ops, requestMove, untilReport } from '../journeys/world.ts'
import { type Scene, startScene } from './scene.ts'

/** Longer than the lock of a job (30 s), of a tick (6 s) and the lease of a message (10 s). */
const usualBlockMs = 35_000
/** Longer than the lease of a message, and shorter than the silence (15 s) after which a connection is closed with all answers on it. */
const shortBlockMs = 13_000

/** Later than anything that the blocked bot can still do afterwards. */
const aftermathMs = 4_000

const blockedLoop = new URL('./blocked-loop.ts', import.meta.url).href

type Blocking = 'stopped by a signal' | 'busy in JavaScript'

interface Blockade {
  world: Scene
  elasticIpId: string
  block: () => void
  /** Resolves when the bot is no longer blocked. */
  over: Promise<void>
}

/** Each blocks the bot at the moment when what it sent arrives, and returns how often that has happened. */
const moments = {
  'the preflight check before the write': ({ world, elasticIpId, block }: Blockade) => {
    const path = `/elastic_ips/${elasticIpId}`
    const fault = world.accountApi.faults.add({ method: 'GET', path, kind: 'delay', delayMs: 200, meanwhile: block })
    return () => fault.fired
  },
  // The claim reaches Redis only after another bot has done everything, so Redis rejects it as too late.
  'the claim of the write': ({ world: { proxy }, block, over }: Blockade) => {
    const isClaim = (sent: Buffer) => {
      const fits = sent.includes('"tokenName":"send"')
      if (fits) block()
      return fits
    }
    proxy.holdSent(isClaim, over)
    return () => proxy.fired.held
  },
  'the write': ({ world, elasticIpId, block }: Blockade) => {
    const path = `/elastic_ips/${elasticIpId}`
    const fault = world.accountApi.faults.add({ method: 'PATCH', path, kind: 'delay', delayMs: 200, meanwhile: block })
    return () => fault.fired
  },
  // The bot gets its lease after another bot has sent the report.
  'its lease of the report': ({ world: { proxy }, block }: Blockade) => {
    const isLease = (sent: Buffer) => {
      const fits = sent.includes('\r\nended\r\n') && sent.includes('\r\n20000\r\n')
      if (fits) block()
      return fits
    }
    proxy.holdSent(isLease, Promise.resolve())
    return () => proxy.fired.held
  },
  'the report': ({ world, block }: Blockade) => {
    const isReport = (args: Record<string, unknown>) => {
      if (args.thread_ts !== undefined) block()
      return args.thread_ts !== undefined
    }
    const fault = world.slack.faults.add({ method: 'chat.postMessage', kind: 'delay', delayMs: 200, when: isReport })
    return () => fault.fired
  },
}
type Moment = keyof typeof moments

/** Blocks one bot at this moment for longer than every lock. A second bot starts meanwhile. */
async function blockAt(moment: Moment, blocking: Blocking) {
  const nodeOptions = ['--import', blockedLoop]
  const blockMs = moment === 'its lease of the report' ? shortBlockMs : usualBlockMs
  const world = await startScene({ bots: 2, atOnce: 1, nodeOptions, env: { BLOCK_MS: String(blockMs) } })
  const { accountApi, slack, bots } = world
  const { elasticIp, target, card } = await requestMove(world)

  const blocked = Promise.withResolvers<number>()
  const over = Promise.withResolvers<void>()
  let isBlocked = false
  const block = () => {
    if (isBlocked) return
    isBlocked = true
    bots.signal(0, blocking === 'stopped by a signal' ? 'SIGSTOP' : 'SIGUSR2')
    blocked.resolve(Date.now())
  }
  const fired = moments[moment]({ world, elasticIpId: elasticIp.id, block, over: over.promise })
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
    wasBlocked: blocking === 'stopped by a signal' || bots.log.some((line) => line.includes('the event loop is blocked')),
  }
}

test.each(['stopped by a signal', 'busy in JavaScript'] as const)(
  'a bot that is %s for longer than its locks last is replaced by another one, and when it continues nothing is written or reported a second time',
  async (blocking) => {
    const names = Object.keys(moments) as Moment[]

    const outcomes = await Promise.all(names.map(async (moment) => ({ moment, ...(await blockAt(moment, blocking)) })))

    const asItShouldBe = { fired: 1, writes: 1, reports: 1, cards: 1, on: true, crashes: [], wasBlocked: true }
    expect(outcomes).toEqual(names.map((moment) => ({ moment, ...asItShouldBe })))
  },
)
