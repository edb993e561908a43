import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { approveMove, ops, people, untilReport, untilShown } from '../journeys/world.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import { environment, startProcess } from '../start-process.ts'
import { brokenPromises } from './invariants.ts'
import { startScene } from './scene.ts'

test('a worker that starts without Slack tracks a move to its end, and its report comes when Slack is back', async () => {
  const scene = await startScene({ bots: 2, own: (index) => ({ ROLE: index === 0 ? 'web' : 'worker' }), moveTakesMs: 6_000 })
  const { bots, slack, slackProxy, account } = scene
  const card = await scene.startMove(0)
  slackProxy.refuse()
  await bots.kill(1)

  await bots.start(1)

  expect((await bots.page(1, '/readyz')).status).toBe(200)
  await expect.poll(() => account.world.elasticIps()[0]?.status).toBe('active')
  await expect.poll(async () => (await scene.evidence.records()).map(({ state }) => state)).toEqual(['done'])
  expect(await (await bots.page(1, '/status')).json()).toMatchObject({
    checks: { slack: { ok: false, problem: expect.stringMatching(/^Slack does not answer at /) }, worker: { ok: true } },
  })
  expect(slackProxy.fired.refused).toBeGreaterThan(1)
  expect(slack.thread(card.channel, card.ts).filter(({ text }) => /Done/.test(text))).toEqual([])

  slackProxy.heal()
  await scene.untilReport(card, /Done/)
  expect(brokenPromises(await scene.gather(1))).toEqual([])
})

test('a bot that starts while Redis reads its files answers in words, and works once that has ended', async () => {
  // 500 µs for each write. Redis answers clients after every 1,024 of them.
  const redis = await startRedis({ appendonly: true, settings: ['key-load-delay 500'] })
  onTestFinished(() => redis.stop())
  const filler = new Redis(redis.url)
  const writes = filler.pipeline()
  for (let key = 0; key < 12_000; key += 1) writes.set(`filler-${key}`, '1')
  await writes.exec()
  filler.disconnect()
  await redis.kill()
  const { slack, accountApi, env } = await environment({ REDIS_URL: redis.url, ALLOW_VOLATILE_REDIS: 'false' })
  const { elasticIp, target } = accountApi.world.movable()
  const move = `/infra ip move ${elasticIp.address} ${target.hostname}`
  const loaded = redis.restart()
  const bot = await startProcess(env)

  await expect.poll(bot.output).toMatch(/Redis isn't responding at REDIS_URL \((LOADING|no answer)\)/)
  await bot.untilReady()
  slack.connectBot(bot.slackUrl())
  await slack.as(people.ada).command(move, { channel: ops })
  await untilShown(slack, people.ada, /database \(Redis\) isn't responding/)

  await loaded
  await expect.poll(() => bot.page('/status')).toMatchObject({ status: 200, body: { ok: true } })
  const { card } = await approveMove({ slack, accountApi, ada: slack.as(people.ada), ben: slack.as(people.ben) })
  await untilReport(slack, card.ts, /Done/)
})

test('a bot starts with a Redis that comes and goes, and does all of its work once it stays', async () => {
  const redis = await startRedis({ appendonly: true })
  onTestFinished(() => redis.stop())
  const { slack, accountApi, env } = await environment({ REDIS_URL: redis.url, ALLOW_VOLATILE_REDIS: 'false' })
  await redis.kill()
  const bot = await startProcess(env)
  await bot.page('/healthz')
  for (let round = 0; round < 10; round += 1) {
    await redis.restart()
    // Long enough for a connection to open and be used in some of the rounds.
    await delay(round * 40)
    await redis.kill()
    await delay(300)
  }
  await redis.restart()

  await bot.untilReady()
  await expect.poll(() => bot.page('/status')).toMatchObject({ status: 200, body: { ok: true } })
  slack.connectBot(bot.slackUrl())
  const { card } = await approveMove({ slack, accountApi, ada: slack.as(people.ada), ben: slack.as(people.ben) })
  await untilReport(slack, card.ts, /Done/)
  expect(bot.errors()).toBe('')
})
