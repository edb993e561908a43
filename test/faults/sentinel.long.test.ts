import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { approveMove, ops, startWorld, untilCard, untilReport } from '../journeys/world.ts'
import { environment, startProcess } from '../start-process.ts'
import { createEvidence } from './evidence.ts'
import { startSentinels } from './many-redis.ts'

test('when the primary dies, the replica takes over and the move is tracked to its end, once', async () => {
  const { primary, replica, url } = await startSentinels()
  const client = new Redis(replica.url)
  onTestFinished(() => client.disconnect())
  const world = await startWorld({ env: { REDIS_URL: url }, account: { moveTakes: { min: 9_000, max: 9_000 } } })
  const { elasticIp, target, card } = await approveMove(world)
  await untilCard(world.slack, /\*Moving\*/)

  const { lastTick } = createEvidence(client, world.prefix).keys
  const tickOnReplica = async () => ((await client.role())[0] === 'master' ? client.get(lastTick) : undefined)

  await primary.kill()
  const killedAt = performance.now()
  const ticked = await client.get(lastTick)
  await expect.poll(() => world.log.some((line) => line.includes("Redis isn't responding"))).toBe(true)

  await expect.poll(tickOnReplica, { timeout: 20_000, interval: 50 }).not.toBeOneOf([ticked, undefined])
  const resumedMs = performance.now() - killedAt
  console.log(JSON.stringify({ resumedMs: Math.round(resumedMs) }))
  expect(resumedMs).toBeLessThan(15_000)

  const report = await untilReport(world.slack, card.ts, /Done/)
  expect(report.text).toContain(`\`${elasticIp.address}\` is assigned to ${target.hostname}.`)
  expect(world.accountApi.journal.writes().filter(({ method }) => method === 'PATCH')).toHaveLength(1)
  await untilCard(world.slack, /\*Done/)
  expect(world.slack.thread(ops, card.ts).filter(({ text }) => /Done/.test(text))).toHaveLength(2)
})

test('Sentinels that ask for a password get it, and one that is missing or wrong is named in the sentence that ends the start', async () => {
  const sentinelPassword = 'p4ss-of-the-sentinels'
  const { url } = await startSentinels({ sentinelPassword })
  const { env } = await environment({ REDIS_URL: url })

  for (const [own, code] of [
    [{}, 'NOAUTH'],
    [{ REDIS_SENTINEL_PASSWORD: 'wrong-c4nary' }, 'WRONGPASS'],
  ] as const) {
    const bot = await startProcess({ ...env, ...own })
    expect(await bot.exited).toBe(1)
    expect(bot.errors()).toBe(
      `The Sentinels in REDIS_URL reject Lockkeeper (${code}). Set REDIS_SENTINEL_PASSWORD to their own password and restart.\n`,
    )
    expect(bot.output() + bot.errors()).not.toMatch(/c4nary|p4ss/)
  }
  const bot = await startProcess({ ...env, REDIS_SENTINEL_PASSWORD: sentinelPassword })
  await bot.untilReady()
  expect(bot.output() + bot.errors()).not.toMatch(/p4ss/)
})
