import { expect, test } from 'vitest'
import { startOwnRedis } from '../given/redis.ts'
import { general, ops, people, startWorld, untilCard, untilShown } from './world.ts'

test('while the memory of Redis is full, people, /status, the doctor and the operators read so, and everything goes on after it', async () => {
  const { server, redis } = await startOwnRedis({ appendonly: true })
  const world = await startWorld({ env: { REDIS_URL: server.url, OPS_CHANNEL: general } })
  world.slack.invite(general)
  const { elasticIp, target } = world.accountApi.world.movable()
  const request = () => world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  const { opsPort } = world.bots[0] as (typeof world.bots)[number]
  const page = async (path: string) => (await fetch(`http://127.0.0.1:${opsPort}${path}`)).text()

  await redis.config('SET', 'maxmemory', '100kb')
  await request()

  expect((await untilShown(world.slack, people.ada, /Redis/)).text).toMatchInlineSnapshot(
    `
    "Lockkeeper's database (Redis) refuses writes, because its memory is full. Your last step wasn't stored and won't be carried out. Tell Lockkeeper's operators (<#C0GENERAL1>).
    You typed: \`/infra ip move 203.0.113.10 web-2\`"
  `,
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

test('while Redis does not answer, a command is answered with itself, as it was typed', async () => {
  const { server } = await startOwnRedis()
  const { ada, slack } = await startWorld({ env: { REDIS_URL: server.url } })
  server.freeze()
  await ada.command('/infra ip move 203.0.113.10 web-2 in 2h because @ben & the disk', { channel: ops })

  const answer = await untilShown(slack, people.ada, /Redis/)
  // What only reads has nothing that may not be stored.
  for (const words of ['pending', 'audit me']) await ada.command(`/infra ${words}`, { channel: ops })
  for (const words of ['pending', 'audit me'])
    await untilShown(slack, people.ada, new RegExp(`isn't responding\\. Try again in a minute\\.\nYou typed: .\\/infra ${words}`))
  await ada.openHome()
  await slack.until(() => /isn't responding\. Try again in a minute\./.test(JSON.stringify(slack.home(people.ada)?.blocks)), {
    what: 'the Home tab without Redis',
  })
  server.thaw()
  expect(answer.text).toBe(
    "Lockkeeper's database (Redis) isn't responding. What you did may not be stored: try again in a minute; nothing runs twice.\nYou typed: `/infra ip move 203.0.113.10 web-2 in 2h because @ben &amp; the disk`",
  )
})
