import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ops, untilCard, untilReport } from '../journeys/world.ts'
import { startStandInWorld } from './stand-in-world.ts'

/** Longer than the lock of a job (30 s), of a tick (6 s) and of a message that is being sent. */
const blockMs = 35_000

/** Later than anything that the blocked bot may still do with what it was in the middle of. */
const aftermathMs = 4_000

const blockedLoop = new URL('./blocked-loop.ts', import.meta.url).href

type World = Awaited<ReturnType<typeof startStandInWorld>>
type Blocking = 'stopped by a signal' | 'busy in JavaScript'

/** Where it stands still: each blocks the bot at the moment when its request arrives. */
const moments = {
  'the look before the write': ({ accountApi }: World, id: string, block: () => void) =>
    accountApi.faults.add({ method: 'GET', path: `/elastic_ips/${id}`, kind: 'delay', delayMs: 200, meanwhile: block }),
  'the write': ({ accountApi }: World, id: string, block: () => void) =>
    accountApi.faults.add({ method: 'PATCH', path: `/elastic_ips/${id}`, kind: 'delay', delayMs: 200, meanwhile: block }),
  'the report': ({ slack }: World, _: string, block: () => void) => {
    let blocked = false
    const isReport = (args: Record<string, unknown>) => {
      if (args.thread_ts === undefined) return false
      if (!blocked) block()
      blocked = true
      return true
    }
    return slack.faults.add({ method: 'chat.postMessage', kind: 'delay', delayMs: 200, when: isReport })
  },
}
type Moment = keyof typeof moments

/** One bot is blocked there for longer than every lock; a second one comes when it is. */
async function blockAt(moment: Moment, blocking: Blocking) {
  const nodeOptions = ['--import', blockedLoop]
  const world = await startStandInWorld({ bots: 2, atOnce: 1, nodeOptions, env: { BLOCK_MS: String(blockMs) } })
  const { accountApi, slack, bots } = world
  const { elasticIp, target } = accountApi.world.movable()
  await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  const card = await untilCard(slack, /Waiting for approval/)

  const blocked = Promise.withResolvers<number>()
  const fault = moments[moment](world, elasticIp.id, () => {
    bots.signal(0, blocking === 'stopped by a signal' ? 'SIGSTOP' : 'SIGUSR2')
    blocked.resolve(Date.now())
  })
  await world.ben.click(card, 'Approve')
  const blockedAt = await blocked.promise
  await bots.start(1)
  const report = slack.until(() => slack.thread(ops, card.ts).find(({ text }) => /\*Done/.test(text)), { timeoutMs: blockMs })
  const takenOverAfterMs = await report.then(() => Date.now() - blockedAt)
  await delay(blockedAt + blockMs - Date.now())
  if (blocking === 'stopped by a signal') bots.signal(0, 'SIGCONT')

  slack.connectBot(bots.url(0))
  await expect
    .poll(async () => (await world.ada.command('/infra help', { channel: ops })).outcome, { timeout: 20_000, interval: 500 })
    .toBe('acknowledged')
  await delay(aftermathMs)
  await untilReport(slack, card.ts, /Done/)

  console.log(JSON.stringify({ moment, blocking, takenOverAfterMs }))
  return {
    fired: fault.fired,
    writes: accountApi.journal.writes().length,
    reports: slack.thread(ops, card.ts).length - 1,
    cards: slack.messages(ops).filter(({ isBot }) => isBot).length,
    on: accountApi.world.elasticIp(elasticIp.id)?.serverId === target.id,
    crashes: bots.crashes,
    stoodStill: blocking === 'stopped by a signal' || bots.log.some((line) => line.includes('the event loop stands still')),
  }
}

test.each(['stopped by a signal', 'busy in JavaScript'] as const)(
  'a bot that is %s for 35 s is made up for by another, and when it goes on nothing is written or told a second time',
  async (blocking) => {
    const names = Object.keys(moments) as Moment[]

    const outcomes = await Promise.all(names.map(async (moment) => ({ moment, ...(await blockAt(moment, blocking)) })))

    const asItShouldBe = { fired: 1, writes: 1, reports: 1, cards: 1, on: true, crashes: [], stoodStill: true }
    expect(outcomes).toEqual(names.map((moment) => ({ moment, ...asItShouldBe })))
  },
  120_000,
)
