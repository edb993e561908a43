import { setTimeout as delay } from 'node:timers/promises'
import { expect, type TestContext, test } from 'vitest'
import { isOpen, type Request } from '../../src/domain/request.ts'
import { ops } from '../journeys/world.ts'
import { openStoredRequests } from '../sandbox/breakages.ts'
import type { Message } from '../sandbox/slack/slack.ts'
import { brokenPromises } from './invariants.ts'
import { type SceneOptions, startScene } from './scene.ts'
import { untilTrue } from './until-true.ts'

const minutes = 60_000

/** A move that Ada requested for later and Ben approved. `pass` lets time pass for Redis, as if its clock had jumped, while no bot runs. */
async function startScheduled(wait: string, onEnd: TestContext['onTestFinished'], options: SceneOptions = {}) {
  const scene = await startScene({ elasticIps: 1, ...options, onEnd })
  const { ada, ben, bots, accountApi, redis, prefix, slack, evidence } = scene
  const stored = openStoredRequests({ REDIS_URL: redis.url, REDIS_PREFIX: prefix, INFRA_API_KEY: accountApi.key })
  onEnd(stored.close)
  await ada.command(`/infra ip move ${scene.elasticIp(0).address} ${scene.to} in ${wait}`, { channel: ops })
  const card = await scene.untilCard(0, /needs approval from/)
  await ben.click(card, 'Approve')
  await scene.untilCard(0, /Approved\.\* Starts <!date/)

  const only = async (): Promise<Request> => {
    const [request] = await evidence.records()
    if (!request) throw new Error('there is no request')
    return request
  }
  async function pass(ms: number): Promise<void> {
    for (const request of await stored.open()) await stored.shiftTimes(request, ms)
    await stored.shiftFreeze(ms)
  }
  const whileDown = async (act: () => Promise<unknown>) => {
    await bots.kill(0)
    await act()
    await bots.start(0)
  }
  /** How it ended, with the number of writes and of reports. */
  async function outcome() {
    await untilTrue('it has ended', async () => !isOpen((await only()).state))
    // What would come twice has come by then.
    await delay(6_000)
    return { state: (await only()).state, writes: scene.writes().length, reports: scene.reports(card, /\*(Done\.|Not started:)/).length }
  }
  const now = () => slack.messages(ops).find(({ ts }) => ts === card.ts) as Message
  const start = (await only()).start ?? 0
  return { ...scene, now, only, pass, whileDown, outcome, untilStart: () => delay(Math.max(0, start - Date.now())) }
}

test.concurrent('two replicas that are both restarted between the approval and the start send a move once, at its start', async ({
  onTestFinished,
}) => {
  const scene = await startScheduled('45s', onTestFinished, { bots: 2 })
  const { bots, only, untilStart, writes } = scene
  await Promise.all([bots.end(0, 'SIGTERM'), bots.end(1, 'SIGTERM')])
  await Promise.all([bots.start(0), bots.start(1)])
  await Promise.all([bots.kill(0), bots.kill(1)])
  await Promise.all([bots.start(0), bots.start(1)])
  expect(writes()).toEqual([])
  await untilStart()

  expect(await scene.outcome()).toEqual({ state: 'done', writes: 1, reports: 1 })
  const { start = 0, sentAt = 0 } = await only()
  expect(sentAt).toBeGreaterThanOrEqual(start)
  expect(brokenPromises(await scene.gather(1))).toEqual([])
})

test.concurrent('Redis that is away at the start, and back within 30 minutes lets the move be sent once', async ({ onTestFinished }) => {
  const scene = await startScheduled('40s', onTestFinished)
  const { redis, untilStart, writes } = scene
  await redis.kill()
  await untilStart()
  await delay(5_000)
  expect(writes()).toEqual([])
  await redis.restart()

  expect(await scene.outcome()).toEqual({ state: 'done', writes: 1, reports: 1 })
  expect(brokenPromises(await scene.gather(1))).toEqual([])
})

test.concurrent('Redis that is away at the start, and back after more than 30 minutes lets it be missed, which is said once', async ({
  onTestFinished,
}) => {
  const scene = await startScheduled('40s', onTestFinished)
  const { redis, only, untilStart, whileDown, pass } = scene
  await redis.kill()
  await untilStart()
  await whileDown(async () => {
    await redis.restart()
    await pass(30 * minutes)
  })

  expect(await scene.outcome()).toEqual({ state: 'not-started', writes: 0, reports: 1 })
  expect((await only()).causes).toEqual([{ code: 'approved-too-long-ago' }])
  expect(scene.now().text).toMatch(/\*Not started\*/)
})

test.concurrent('a clock of Redis that jumps by an hour in both directions starts a move once, and not before its start by that clock', async ({
  onTestFinished,
}) => {
  const scene = await startScheduled('2h', onTestFinished)
  const { only, whileDown, pass, writes, now } = scene
  for (const ms of [60 * minutes, -60 * minutes, 60 * minutes, -60 * minutes]) {
    await whileDown(() => pass(ms))
    await delay(3_000)
    expect([(await only()).state, writes()]).toEqual(['approved', []])
    expect(now().text).toMatch(/Approved\.\* Starts <!date/)
  }
  await whileDown(() => pass(121 * minutes))

  expect(await scene.outcome()).toEqual({ state: 'done', writes: 1, reports: 1 })
})
