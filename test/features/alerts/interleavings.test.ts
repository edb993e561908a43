import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { resolved } from '../../journeys/alerts-world.ts'
import { arrange, down } from './scene.ts'

const outages = ['node', 'ping', 'disk'].map((job) => down('web-1', { job }))

test.each(Array.from({ length: 6 }, (_, seed) => seed + 1))(
  'whatever arrives at once, and wherever processes die, a server has one open request, which ends with its alerts: %i',
  async (seed) => {
    let state = seed
    const random = (below: number) => {
      state = (state * 48_271) % 2_147_483_647
      return state % below
    }
    const scene = arrange()
    const { hooks, redis, keys } = scene
    let underway = 0
    const dieSometimes = async () => {
      await pause(random(4))
      if (random(5) > 0) return
      // A process that died here does nothing more.
      underway -= 1
      await new Promise(() => {})
    }
    const open = async () => {
      const records = await redis.keys(keys.record('*'))
      const states = await Promise.all(records.map((record) => redis.hget(record, 'state')))
      return states.filter((each) => each === '"waiting"').length
    }

    for (let round = 0; round < 6; round += 1) {
      Object.assign(hooks, { beforeRecord: dieSometimes, afterRecord: dieSometimes, beforeResolve: dieSometimes, beforeList: dieSometimes })
      const deliveries = Array.from({ length: 4 }, () => {
        const some = outages.filter(() => random(2) === 0).map((each) => (random(3) === 0 ? resolved(each) : each))
        underway += 1
        const delivery = scene
          .replica()(some)
          .finally(() => {
            underway -= 1
          })
        return Promise.race([delivery, pause(100)])
      })
      await Promise.all(deliveries)
      expect(await open()).toBeLessThanOrEqual(1)
      if (random(2) === 0) await scene.pass(130_000)
    }

    for (const hook of ['beforeRecord', 'afterRecord', 'beforeResolve', 'beforeList'] as const) delete hooks[hook]
    // A process that is only slow would still do its part after what follows.
    await expect.poll(() => underway).toBe(0)
    await expect.poll(() => scene.take(outages.map(resolved))).toBe('accepted')
    expect(await open()).toBe(0)
    await scene.pass(130_000)
    await expect.poll(() => scene.take(outages)).toBe('accepted')
    expect(await open()).toBe(1)
    expect(scene.posts).toEqual([])
  },
)
