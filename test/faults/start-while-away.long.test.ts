import { setTimeout as delay } from 'node:timers/promises'
import { Redis as RedisClient } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { approveMove, ops, people, untilReport, untilShown } from '../journeys/world.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import { environment, startProcess } from '../start-process.ts'
import { brokenPromises } from './invariants.ts'
import { startScene } from './scene.ts'
import { startTcpProxy } from './tcp-proxy.ts'

/** Starts the stand-ins, with a Slack that cannot be reached until `proxy` heals. */
async function environmentWithoutSlack(more: Record<string, string> = {}) {
  const { slack, accountApi, env } = await environment(more)
  const proxy = await startTcpProxy({ port: Number(new URL(slack.apiUrl).port) })
  onTestFinished(() => proxy.close())
  proxy.refuse()
  return { slack, accountApi, proxy, env: { ...env, SLACK_API_URL: `http://127.0.0.1:${proxy.port}/api/` } }
}

type Redis = Awaited<ReturnType<typeof startRedis>>

/** Each lets Redis go away, and returns how it comes back. */
const outages: Record<string, (redis: Redis) => Promise<() => Promise<void>>> = {
  'is away': (redis) => redis.kill().then(() => redis.restart),
  async 'reads its files'(redis) {
    const filler = new RedisClient(redis.url)
    const writes = filler.pipeline()
    for (let key = 0; key < 15_000; key += 1) writes.set(`filler-${key}`, '1')
    await writes.exec()
    filler.disconnect()
    await redis.kill()
    const loaded = redis.restart()
    return () => loaded
  },
  async 'comes and goes'(redis) {
    await redis.kill()
    return async () => {
      for (let round = 0; round < 10; round += 1) {
        await redis.restart()
        // Long enough for a connection to open and be used in some of the rounds.
        await delay(round * 40)
        await redis.kill()
        await delay(300)
      }
      await redis.restart()
    }
  },
}

describe('a start while a dependency is away', () => {
  test.each(Object.entries(outages))(
    'without Redis, which %s, answers people with a sentence, and does all of its work after Redis is back',
    async (how, leave) => {
      // 1 ms for each write, 15 s together. Redis answers clients after every 1,024 of them.
      const settings = how === 'reads its files' ? ['key-load-delay 1000'] : []
      const redis = await startRedis({ appendonly: true, settings })
      onTestFinished(() => redis.stop())
      const { slack, accountApi, env } = await environment({ REDIS_URL: redis.url, ALLOW_VOLATILE_REDIS: 'false' })
      const comeBack = await leave(redis)
      const ada = slack.as(people.ada)
      const bot = await startProcess(env)

      await expect.poll(bot.output).toMatch(/"level":"warn".*Redis isn't responding at REDIS_URL \((ECONNREFUSED|LOADING|no answer)\)/)
      await bot.untilReady()
      slack.connectBot(bot.slackUrl())
      await ada.command('/infra ip move 203.0.113.10 web-2', { channel: ops })
      await untilShown(slack, people.ada, /database \(Redis\) isn't responding/)

      await comeBack()
      await expect.poll(() => bot.page('/status')).toMatchObject({ status: 200, body: { ok: true } })
      const { card } = await approveMove({ slack, accountApi, ada, ben: slack.as(people.ben) })
      await untilReport(slack, card.ts, /Done/)
      expect(bot.errors()).toBe('')
    },
  )

  test('without Redis fails when a Redis comes that could lose requests', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    await redis.kill()
    const { env } = await environment({ REDIS_URL: redis.url, ALLOW_VOLATILE_REDIS: 'false' })
    const bot = await startProcess(env)
    await bot.untilReady()

    await redis.restart()

    expect(await bot.exited).toBe(1)
    expect(bot.errors()).toMatch(/^Redis doesn't write changes to disk \(appendonly no\)/)
  })

  test('without Slack waits for it and serves the operations pages, and answers people after Slack is back', async () => {
    const { slack, proxy, env } = await environmentWithoutSlack()
    const bot = await startProcess(env)

    expect(await bot.page('/healthz')).toEqual({ status: 200, body: { alive: true } })
    await expect.poll(() => bot.page('/readyz')).toEqual({ status: 503, body: { ready: false, why: 'starting: waiting for Slack' } })
    expect(await bot.page('/status')).toMatchObject({
      status: 503,
      body: { checks: { redis: { ok: true }, slack: { ok: false, problem: expect.stringMatching(/^Slack does not answer at /) } } },
    })
    await expect.poll(() => proxy.fired.refused).toBeGreaterThan(1)
    expect(bot.output()).not.toContain('Lockkeeper is ready')

    proxy.heal()
    await bot.untilReady()
    expect(await bot.page('/status')).toMatchObject({ body: { checks: { slack: { ok: true } } } })
    expect(bot.output().match(/"check-failed","check":"slack"/g), 'the outage has one line').toHaveLength(1)
    slack.connectBot(bot.slackUrl())
    await slack.as(people.ada).command('/infra help', { channel: ops })
    await untilShown(slack, people.ada, /What you can do/)
  })

  test.each(['all', 'worker'])('fails with a sentence if Slack is back and rejects the token, with ROLE=%s', async (role) => {
    const { slack, proxy, env } = await environmentWithoutSlack({ ROLE: role })
    slack.revoke('token_revoked')
    const bot = await startProcess(env)
    await expect.poll(() => proxy.fired.refused).toBeGreaterThan(0)

    proxy.heal()

    expect(await bot.exited).toBe(1)
    expect(bot.errors()).toMatch(/^Slack rejects SLACK_BOT_TOKEN \(token_revoked\)\./)
  })

  // Slack's client itself would try again after the second error.
  test.each(['invalid_auth', 'token_revoked'])('fails with a sentence if Slack opens no Socket Mode (%s)', async (error) => {
    const { slack, env } = await environment({}, { socketMode: true })
    slack.faults.add({ method: 'apps.connections.open', kind: 'error', error, times: 100 })
    const bot = await startProcess(env)

    expect(await bot.exited).toBe(1)
    expect(bot.errors()).toMatch(new RegExp(`^Slack does not open Socket Mode \\(${error}\\)\\. Check SLACK_APP_TOKEN`))
  })

  test('waits while Slack does not open Socket Mode', async () => {
    const { slack, env } = await environment({}, { socketMode: true })
    const away = slack.faults.add({ method: 'apps.connections.open', kind: 'status', times: 2 })
    const bot = await startProcess(env)

    expect(await bot.page('/readyz')).toMatchObject({ status: 503 })
    await bot.untilReady()

    expect([away.fired, slack.sockets()]).toEqual([2, 1])
  })
})

test('a worker that starts without Slack tracks a move to its end, and its report comes when Slack is back', async () => {
  const scene = await startScene({ bots: 2, own: (index) => ({ ROLE: index === 0 ? 'web' : 'worker' }), moveTakesMs: 6_000 })
  const { bots, slack, slackProxy, accountApi } = scene
  const card = await scene.startMove(0)
  slackProxy.refuse()
  await bots.kill(1)

  await bots.start(1)

  expect((await bots.page(1, '/readyz')).status).toBe(200)
  await expect.poll(() => accountApi.world.elasticIps()[0]?.status).toBe('active')
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
