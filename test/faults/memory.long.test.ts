import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { approveMove, ops, people, startWorld, untilCard, untilReport, untilShown } from '../journeys/world.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'

/** Starts a world with its own Redis, which can be emptied, filled and restarted. */
async function startWorldOnOwnRedis(moveTakesMs = 300) {
  const server = await startRedis({ appendonly: true })
  const admin = new Redis(server.url)
  onTestFinished(async () => {
    admin.disconnect()
    await server.stop()
  })
  const account = { moveTakes: { min: moveTakesMs, max: moveTakesMs } }
  const world = await startWorld({ env: { REDIS_URL: server.url, OPS_CHANNEL: ops }, account })
  return { world, admin }
}

test('a new data set is reported as new and a lost one as lost, with what is moving on the account', async () => {
  const { world, admin } = await startWorldOnOwnRedis(60_000)
  await untilCard(world.slack, /Redis has no data of Lockkeeper yet/)
  const { card, elasticIp } = await approveMove(world)
  await untilCard(world.slack, /\*Moving\*/)

  await admin.flushall()

  const notice = await untilCard(world.slack, /Redis lost Lockkeeper's data/)
  expect(notice.text).toContain(`${elasticIp.address} (${elasticIp.id}), `)
  // A read may show either server while the Elastic IP moves.
  expect(notice.text).toMatch(/203\.0\.113\.10 \(eip_\w+\), shown on web-[12]/)
  await world.ben.click(card, 'Approve')
  await untilShown(world.slack, people.ben, /no longer has this request/)
})

test('operators are notified of the loss although Slack fails at first', async () => {
  const { world, admin } = await startWorldOnOwnRedis()
  await untilCard(world.slack, /Redis has no data of Lockkeeper yet/)
  const isAlarm = ({ text }: { text?: unknown }) => String(text).includes("Redis lost Lockkeeper's data")
  const fault = world.slack.faults.add({
    method: 'chat.postMessage',
    kind: 'status',
    status: 503,
    when: (args) => args.channel === ops && isAlarm(args),
  })

  await admin.flushall()

  await untilCard(world.slack, /Redis lost Lockkeeper's data/)
  // Longer than the time until the next attempt.
  await new Promise((resolve) => setTimeout(resolve, 6_000))
  expect(fault.fired).toBe(1)
  expect(world.slack.messages(ops).filter(isAlarm)).toHaveLength(1)
})

test('with a full Redis new requests are refused with a message, and running ones go on when there is room', async () => {
  const { world, admin } = await startWorldOnOwnRedis(1_500)
  const { card } = await approveMove(world)
  await untilCard(world.slack, /\*Moving\*/)

  await admin.config('SET', 'maxmemory', '1')
  await world.ada.command('/infra keys create ci-deploy', { channel: ops })
  await untilShown(world.slack, people.ada, /database \(Redis\) isn't responding|memory is full/)
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  expect(world.slack.thread(ops, card.ts).filter(({ text }) => /Done/.test(text))).toEqual([])
  const noise = world.log.filter((line) => line.includes('"level":"error"')).length
  await admin.config('SET', 'maxmemory', '0')

  await untilReport(world.slack, card.ts, /Done/)
  expect(noise).toBeLessThan(50)
})

test('the work of jobs and schedulers that somebody deleted is still done', async () => {
  const { world, admin } = await startWorldOnOwnRedis(1_000)
  const { card } = await approveMove(world)
  await untilCard(world.slack, /\*Moving\*/)
  const jobs = [...(await admin.keys('*:ticks:*')), ...(await admin.keys('*:wake-ups:*'))]

  expect(await admin.del(...jobs)).toBeGreaterThan(0)

  await untilReport(world.slack, card.ts, /Done/)
})
