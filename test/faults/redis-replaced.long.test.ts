import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { checkAudit } from '../../src/audit/verification.ts'
import { startOwnRedis } from '../given/redis.ts'
import { approveHeld, general, ops } from '../journeys/world.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import { createEvidence } from './evidence.ts'
import { brokenPromises } from './invariants.ts'
import { type Scene, startScene } from './scene.ts'

/** Starts a replica of the scene's Redis with all data. Returns it with a client. */
async function startReplica({ redis, admin }: Scene) {
  const settings = ['appendfsync always', `replicaof 127.0.0.1 ${redis.port}`, `masterauth ${redis.password}`]
  const { server, redis: client } = await startOwnRedis({ appendonly: true, password: redis.password, settings })
  await admin.config('SET', 'masterauth', redis.password)
  await expect.poll(() => client.info('replication')).toContain('master_link_status:up')
  return { server, client }
}

/**
 * Hands over as an operator does, without losing a write (redis.io, "FAILOVER"): writes wait until the replica has them all, and it takes over. New
 * connections lead to it, and open ones stay with the demoted primary.
 */
async function handOverTo(scene: Scene, { server, client }: Awaited<ReturnType<typeof startReplica>>): Promise<void> {
  await scene.admin.failover('TO', '127.0.0.1', server.port)
  await expect.poll(async () => (await client.role())[0], { interval: 10 }).toBe('master')
  scene.proxy.retarget({ port: server.port })
}

test('the bot leaves a primary that is demoted, and what is under way goes on', async () => {
  const scene = await startScene({ moveTakesMs: 4_000 })
  const replica = await startReplica(scene)
  const following = await scene.startMove(0)
  const waiting = await scene.requestMove(1)
  await scene.admin.wait(1, 2_000)

  await handOverTo(scene, replica)
  const evidence = createEvidence(replica.client, scene.prefix)
  const ticked = await replica.client.get(evidence.keys.lastTick)
  await expect.poll(() => replica.client.get(evidence.keys.lastTick), { interval: 50 }).not.toBe(ticked)
  expect((await scene.admin.role())[0]).toBe('slave')

  await scene.untilReport(following, /Done/)
  // The connection of clicks learns of it by its first write: that person may read that Redis isn't responding, and presses again.
  await expect
    .poll(async () => {
      await scene.ben.click(waiting, 'Approve')
      return scene.untilCard(1, /\*(?:Moving|Done)\*/, 2_000).then(() => 'approved', String)
    })
    .toBe('approved')
  expect(brokenPromises(await scene.gather(2, 20_000, evidence))).toEqual([])
})

/** Each loses data, and returns once the bot can reach a Redis again. */
const losses: Record<string, { bots?: number; moving: (scene: Scene) => Promise<() => Promise<unknown>>; notice: string }> = {
  'Redis is emptied': {
    moving: async (scene) => {
      await scene.startMove(0)
      return () => scene.admin.flushall()
    },
    notice: "Redis lost Lockkeeper's data",
  },
  'a Redis comes back without its data': {
    moving: async (scene) => {
      await scene.startMove(0)
      return async () => {
        await scene.redis.kill()
        await rm(join(scene.redis.folder, 'appendonlydir'), { recursive: true })
        await scene.redis.restart()
        expect(await scene.admin.dbsize()).toBeLessThan(20)
      }
    },
    notice: "Redis lost Lockkeeper's data",
  },
  'a Redis comes back with an older state': {
    bots: 2,
    moving: async (scene) => {
      const logs = (act: string) => expect.poll(() => scene.bots.log.some((line) => line.includes(`"act":"${act}"`))).toBe(true)
      const card = await scene.requestMove(0)
      await logs('request')
      const [files, older] = ['appendonlydir', 'older'].map((name) => join(scene.redis.folder, name)) as [string, string]
      await cp(files, older, { recursive: true })
      await scene.ben.click(card, 'Approve')
      await scene.untilCard(0, /\*Moving\*/)
      // Only data that was chained in the audit is known to have existed.
      await logs('accept')
      return async () => {
        await scene.redis.kill()
        await rm(files, { recursive: true })
        await cp(older, files, { recursive: true })
        await scene.redis.restart()
      }
    },
    notice: 'Redis went back to an older state',
  },
  'an empty replica is promoted': {
    moving: async (scene) => {
      await scene.startMove(0)
      const empty = await startRedis({ appendonly: true, password: scene.redis.password, settings: ['appendfsync always'] })
      onTestFinished(() => empty.stop())
      return async () => {
        scene.proxy.retarget({ port: empty.port })
        scene.proxy.reset()
      }
    },
    notice: "Redis lost Lockkeeper's data",
  },
}

test.each(Object.entries(losses))(
  'after %s, operators are notified once with what is moving, nothing starts until somebody lifts the freeze, and then it is tracked',
  async (_, { bots = 1, moving, notice }) => {
    const scene = await startScene({ bots, moveTakesMs: 60_000, env: { OPS_CHANNEL: general } })
    scene.slack.invite(general)
    const lose = await moving(scene)
    const { address, id } = scene.elasticIp(0)

    await lose()

    const notices = () =>
      scene.slack.messages(general).filter(({ text }) => /\*Redis (?:lost Lockkeeper's data|went back to an older state)/.test(text))
    const { text } = await scene.slack.until(() => notices()[0])
    expect(text).toContain(notice)
    expect(text).toContain(`${address} (${id}), `)
    // A read may show either server while the Elastic IP moves.
    expect(text).toMatch(/\(eip_\w+\), shown on web-[12]\. More: /)
    scene.accountApi.world.nextMove({ takesMs: 500 })
    const next = await scene.requestMove(1)
    await approveHeld(scene, scene.ben, next)
    await scene.untilCard(1, /Held by a freeze/)
    expect(scene.writes()).toHaveLength(1)
    await scene.ben.command('/infra unfreeze', { channel: ops })
    await scene.untilReport(next, /Done/)
    expect(notices().map((each) => each.text)).toEqual([text])
    expect(scene.writes()).toHaveLength(2)
    const { redis, proxy, prefix, accountApi } = scene
    const url = `redis://:${redis.password}@127.0.0.1:${proxy.port}`
    // A note may still be on its way, while a later one has joined the chain.
    const verify = () => checkAudit({ REDIS_URL: url, REDIS_PREFIX: prefix, INFRA_API_KEY: accountApi.key }, [])
    await expect.poll(verify).toMatchObject({ exitCode: 4 })
  },
)
