import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ops, people } from '../journeys/world.ts'
import { brokenPromises } from './invariants.ts'
import { type Scene, startScene } from './scene.ts'

const roles = (index: number) => ({ ROLE: index === 0 ? 'web' : 'worker' })

async function ticksOf({ bots }: Scene, index: number): Promise<number> {
  const page = await (await bots.page(index, '/metrics')).text()
  return Number(/^lockkeeper_tick_duration_seconds_count (\d+)$/m.exec(page)?.[1])
}

test('the worker executes what was requested from the web process, and its successor does when it is killed', async () => {
  const scene = await startScene({ bots: 2, own: roles, moveTakesMs: 3_000 })
  const following = await scene.startMove(0)

  await scene.bots.kill(1)
  await scene.ada.command('/infra pending', { channel: ops })
  await scene.slack.until(() => scene.slack.ephemerals(people.ada).find(({ text }) => /need(s)? approval/.test(text)))
  const approved = await scene.requestMove(1)
  await scene.ben.click(approved, 'Approve')
  await scene.untilCard(1, /\*Approved/)
  await delay(3_500)
  expect(scene.accountApi.world.elasticIps()[0]?.status).toBe('active')
  expect(scene.reports(following)).toEqual([])
  expect(scene.writes()).toHaveLength(1)

  await scene.bots.start(1)
  expect(brokenPromises(await scene.gather(2))).toEqual([])
  expect(scene.writes()).toHaveLength(2)
  expect(await ticksOf(scene, 0)).toBe(0)
  expect(await ticksOf(scene, 1)).toBeGreaterThan(0)
})

const tickMs = 250
const measuredMs = 8_000

test('two workers send the account API no more requests than one does', async () => {
  const scene = await startScene({ bots: 3, own: roles, moveTakesMs: 120_000, env: { MOVE_POLL_INTERVAL: `${tickMs}ms` } })
  for (const index of [0, 1]) await scene.startMove(index)
  /** Counts the reads of the account API, and the ticks of all workers, within some seconds. */
  async function measure(workers: number[]) {
    const ticked = async () => (await Promise.all(workers.map((index) => ticksOf(scene, index)))).reduce((sum, ticks) => sum + ticks, 0)
    const before = { reads: scene.accountApi.journal.length, ticks: await ticked() }
    await delay(measuredMs)
    return { reads: scene.accountApi.journal.length - before.reads, ticks: (await ticked()) - before.ticks }
  }

  const both = await measure([1, 2])
  await scene.bots.kill(2, 'SIGTERM')
  const one = await measure([1])

  console.log(JSON.stringify({ both, one }))
  expect(one.ticks).toBeGreaterThan(10)
  // A busy machine has fewer ticks than it should, and not the same number each time.
  expect(both.ticks).toBeLessThan((measuredMs / tickMs) * 1.4)
  expect(both.reads / both.ticks).toBeLessThan((one.reads / one.ticks) * 1.4)
})
