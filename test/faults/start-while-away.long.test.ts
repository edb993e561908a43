import { describe, expect, onTestFinished, test } from 'vitest'
import { approveMove, ops, people, untilReport, untilShown } from '../journeys/world.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import type { FaultPlan } from '../sandbox/slack/slack.ts'
import { environment, startProcess } from '../start-process.ts'
import { startTcpProxy } from './tcp-proxy.ts'

/** Starts the stand-ins, with a Slack that cannot be reached until `proxy` heals. */
async function environmentWithoutSlack(more: Record<string, string> = {}) {
  const { slack, accountApi, env } = await environment(more)
  const proxy = await startTcpProxy({ port: Number(new URL(slack.apiUrl).port) })
  onTestFinished(() => proxy.close())
  proxy.refuse()
  return { slack, accountApi, proxy, env: { ...env, SLACK_API_URL: `http://127.0.0.1:${proxy.port}/api/` } }
}

describe('a start while a dependency is away', () => {
  test('without Redis answers people with a sentence, and does all of its work after Redis is back', async () => {
    const redis = await startRedis({ appendonly: true })
    onTestFinished(() => redis.stop())
    await redis.kill()
    const { slack, accountApi, env } = await environment({ REDIS_URL: redis.url, ALLOW_VOLATILE_REDIS: 'false' })
    const { elasticIp, target } = accountApi.world.movable()
    const move = `/infra ip move ${elasticIp.address} ${target.hostname}`
    const ada = slack.as(people.ada)
    const bot = await startProcess(env)

    expect(await bot.page('/healthz')).toEqual({ status: 200, body: { alive: true } })
    expect(await bot.page('/readyz')).toEqual({
      status: 503,
      body: { ready: false, why: expect.stringMatching(/^starting: waiting for /) },
    })
    await bot.untilReady()
    slack.connectBot(bot.slackUrl())
    await ada.command(move, { channel: ops })
    await untilShown(slack, people.ada, /database \(Redis\) isn't responding/)
    await ada.command('/infra help', { channel: ops })
    await untilShown(slack, people.ada, /What you can do/)
    await expect
      .poll(() => bot.page('/status'))
      .toMatchObject({
        status: 503,
        body: {
          ok: false,
          checks: {
            redis: { ok: false, problem: "Redis isn't responding (ECONNREFUSED)", since: expect.stringMatching(/^\d{4}-.*Z$/) },
            slack: { ok: true },
            worker: { ok: false, problem: "Unknown while Redis isn't responding" },
          },
        },
      })
    expect(bot.output()).toMatch(/"level":"warn".*Redis isn't responding at REDIS_URL \(ECONNREFUSED\)/)

    await redis.restart()
    await expect.poll(() => bot.page('/status')).toMatchObject({ status: 200, body: { ok: true } })
    const { card } = await approveMove({ slack, accountApi, ada, ben: slack.as(people.ben) })
    await untilReport(slack, card.ts, /Done/)
    expect(bot.errors()).toBe('')
  })

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

  test('with a wrong INFRA_API_KEY answers people, and shows the problem on /status', async () => {
    const { slack, env } = await environment({ INFRA_API_KEY: 'a'.repeat(36) })
    const bot = await startProcess(env)

    await bot.untilReady()
    slack.connectBot(bot.slackUrl())
    await slack.as(people.ada).command('/infra ip list', { channel: ops })
    await untilShown(slack, people.ada, /rejects Lockkeeper's API key/)

    expect(await bot.page('/status')).toMatchObject({
      status: 503,
      body: { checks: { accountApi: { ok: false, problem: 'The account API rejects INFRA_API_KEY (401)' }, slack: { ok: true } } },
    })
    expect(await bot.page('/readyz')).toEqual({ status: 200, body: { ready: true } })
  })
})

describe('a start over Socket Mode', () => {
  async function startOverSockets(fault: Partial<FaultPlan>) {
    const { slack, env } = await environment({}, { socketMode: true })
    const injected = slack.faults.add({ method: 'apps.connections.open', kind: 'status', ...fault })
    return { slack, injected, bot: await startProcess(env) }
  }

  // Slack's client itself would try again after the second error.
  test.each(['invalid_auth', 'token_revoked'])('that Slack refuses (%s) fails with a sentence', async (error) => {
    const { bot } = await startOverSockets({ kind: 'error', error, times: 100 })

    expect(await bot.exited).toBe(1)
    expect(bot.errors()).toMatch(new RegExp(`^Slack does not open Socket Mode \\(${error}\\)\\. Check SLACK_APP_TOKEN`))
  })

  test('waits while Slack does not answer', async () => {
    const { slack, injected, bot } = await startOverSockets({ kind: 'status', times: 2 })

    expect(await bot.page('/readyz')).toMatchObject({ status: 503 })
    await bot.untilReady()

    expect(injected.fired).toBe(2)
    expect(slack.sockets()).toBe(1)
  })
})
