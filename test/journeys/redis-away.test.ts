import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import { general, ops, people, startWorld, untilCard, untilReport, untilShown } from './world.ts'

test('while Redis is away every command and click is answered, and the move goes on when it is back', async () => {
  const redis = await startRedis({ appendonly: true })
  onTestFinished(() => redis.stop())
  const world = await startWorld({ env: { REDIS_URL: redis.url }, account: { moveTakes: { min: 1_000, max: 1_000 } } })
  const first = world.accountApi.world.movable(0)
  const second = world.accountApi.world.movable(1)
  await world.ada.command(`/infra ip move ${first.elasticIp.address} ${first.target.id}`, { channel: ops })
  const moving = await untilCard(world.slack, /needs approval from/)
  await world.ben.click(moving, 'Approve')
  await untilCard(world.slack, /\*Moving\*/)
  await world.ada.command(`/infra ip move ${second.elasticIp.address} ${second.target.id}`, { channel: ops })
  const waiting = await untilCard(world.slack, /needs approval from/)

  await redis.kill()
  await Promise.all([
    world.ada.command('/infra ip list', { channel: ops }),
    world.chiara.command(`/infra ip move ${first.elasticIp.address} ${first.target.id}`, { channel: ops }),
    world.ben.click(waiting, 'Approve'),
  ])
  await untilShown(world.slack, people.ada, /Elastic IPs|database \(Redis\) isn't responding/)
  await untilShown(world.slack, people.chiara, /database \(Redis\) isn't responding|is already (on|moving)/)
  const refused = await untilShown(world.slack, people.ben, /Redis isn't responding/)
  expect(refused.text).toMatchInlineSnapshot(`"Not approved: Redis isn't responding. Try again in a minute."`)

  await redis.restart()
  await untilReport(world.slack, moving.ts, /Done/)
  await expect
    .poll(
      async () => {
        await world.ben.click(waiting, 'Approve')
        return world.slack.thread(ops, waiting.ts).length
      },
      { timeout: 15_000, interval: 1_000 },
    )
    .toBeGreaterThan(1)
  expect(world.accountApi.journal.writes().filter(({ method }) => method === 'PATCH')).toHaveLength(2)
}, 60_000)

test('while the memory of Redis is full, people, /status, the doctor and the operators read so, and everything goes on after it', async () => {
  const server = await startRedis({ appendonly: true })
  const redis = new Redis(server.url)
  onTestFinished(async () => {
    redis.disconnect()
    await server.stop()
  })
  const world = await startWorld({ env: { REDIS_URL: server.url, OPS_CHANNEL: general } })
  world.slack.invite(general)
  const { elasticIp, target } = world.accountApi.world.movable()
  const request = () => world.ada.command(`/infra ip move ${elasticIp.address} ${target.id}`, { channel: ops })
  const { opsPort } = world.bots[0] as (typeof world.bots)[number]
  const page = async (path: string) => (await fetch(`http://127.0.0.1:${opsPort}${path}`)).text()

  await redis.config('SET', 'maxmemory', '100kb')
  await request()

  expect((await untilShown(world.slack, people.ada, /Redis/)).text).toMatchInlineSnapshot(
    `"Lockkeeper's database (Redis) refuses writes, because its memory is full. Your last step wasn't stored and won't be carried out. Tell Lockkeeper's operators (<#C0GENERAL1>)."`,
  )
  const { checks } = JSON.parse(await page('/status'))
  expect(checks.redis).toMatchObject({ ok: false, problem: expect.stringMatching(/^Refuses writes, because its memory is full \(OOM\)\./) })
  await world.chiara.command('/infra doctor', { channel: ops })
  const doctor = await untilShown(world.slack, people.chiara, /checks failed/)
  expect(doctor.text).toMatch(/:x: \*Redis:\* Refuses writes, because its memory is full \(OOM\)\./)
  expect(doctor.text).toMatch(/:grey_question: \*Workers:\* Unknown while Redis refuses what they report/)
  const notice = () => world.slack.messages(general).filter(({ text }) => /Redis stores nothing/.test(text))
  await expect.poll(() => notice().length).toBe(1)
  const metrics = await page('/metrics')
  for (const line of [/^lockkeeper_redis_refuses_writes 1$/m, /^lockkeeper_redis_up 1$/m]) expect(metrics).toMatch(line)

  await redis.config('SET', 'maxmemory', '0')
  await request()
  await untilCard(world.slack, /needs approval from/)
  expect(JSON.parse(await page('/status')).checks.redis).toEqual({ ok: true })
  await expect.poll(() => page('/metrics')).toMatch(/^lockkeeper_redis_refuses_writes 0$/m)
  expect(notice()).toHaveLength(1)
}, 60_000)
