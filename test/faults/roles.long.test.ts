import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { encodeFields } from '../../src/requests/store.ts'
import { ops, people } from '../journeys/world.ts'
import { signaturesOfBot } from '../requests/signatures-for-test.ts'
import { later, signedAgain } from '../upgrades/as-if-now.ts'
import { brokenPromises } from './invariants.ts'
import { type Scene, startScene } from './scene.ts'

const roles = (index: number) => ({ ROLE: index === 0 ? 'web' : 'worker' })

async function ticksOf({ bots }: Scene, index: number): Promise<number> {
  const page = await (await bots.page(index, '/metrics')).text()
  return Number(/^lockkeeper_ticks_total (\d+)$/m.exec(page)?.[1])
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
  expect(scene.account.world.elasticIps()[0]?.status).toBe('active')
  expect(scene.reports(following)).toEqual([])
  expect(scene.writes()).toHaveLength(1)

  await scene.bots.start(1)
  expect(brokenPromises(await scene.gather(2))).toEqual([])
  expect(scene.writes()).toHaveLength(2)
  expect(await ticksOf(scene, 0)).toBe(0)
  expect(await ticksOf(scene, 1)).toBeGreaterThan(0)
})

test('two workers send the account API no more requests than one does', async () => {
  const scene = await startScene({ bots: 3, own: roles, moveTakesMs: 120_000, env: { MOVE_POLL_INTERVAL: '250ms' } })
  for (const index of [0, 1]) await scene.startMove(index)
  /** Counts the reads of the account API, and the ticks of all workers, within this many ms. */
  async function measure(workers: number[], ms: number) {
    const ticked = async () => (await Promise.all(workers.map((index) => ticksOf(scene, index)))).reduce((sum, ticks) => sum + ticks, 0)
    const before = { reads: scene.account.journal.length, ticks: await ticked() }
    await delay(ms)
    return { reads: scene.account.journal.length - before.reads, ticks: (await ticked()) - before.ticks }
  }

  const both = await measure([1, 2], 8_000)
  await scene.bots.kill(2, 'SIGTERM')
  const one = await measure([1], 8_000)

  console.log(JSON.stringify({ both, one }))
  expect(one.ticks).toBeGreaterThan(10)
  expect(both.ticks).toBeLessThan(one.ticks * 1.4)
  expect(both.reads).toBeLessThan(one.reads * 1.4)
})

test('while no worker runs, messages and operators say so within a minute, once; a worker that starts sends what is not too old', async () => {
  const own = (index: number) => ({ ROLE: index < 2 ? 'web' : 'worker' })
  const scene = await startScene({ bots: 3, own, moveTakesMs: 1_000, env: { OPS_CHANNEL: ops } })
  const { bots, slack, evidence, admin, account, prefix, ada, ben } = scene
  const notices = () => slack.messages(ops).filter(({ text }) => text.includes('No worker of Lockkeeper is running'))
  await bots.kill(2)
  const [fresh, old] = [await scene.requestMove(0), await scene.requestMove(1)]
  for (const card of [fresh, old]) await ben.click(card, 'Approve')
  for (const index of [0, 1]) await scene.untilCard(index, /Not started yet: no worker of Lockkeeper is running/)
  await slack.until(() => notices()[0], { what: 'a notice' })
  // Both web processes look again, twice.
  await delay(21_000)
  expect(notices()).toHaveLength(1)
  const noted = (await evidence.audit()).entries.filter(({ act }) => act === 'wait-for-worker')
  expect(noted).toHaveLength(2)

  const request = (await evidence.records()).find(({ cardTs }) => cardTs === old.ts)
  if (!request) throw new Error('there is no record of the second move')
  const signatures = signaturesOfBot({ INFRA_API_KEY: account.key, REDIS_PREFIX: prefix })
  const older = signedAgain(later(request, -31 * 60_000), signatures)
  await admin.hset(evidence.keys.record(request.id), encodeFields(older))
  await bots.start(2)

  await scene.untilReport(fresh, /\*Done\.\*/)
  const dropped = await scene.untilReport(old, /\*Not started:\*/)
  expect(dropped.text).toContain(
    'Approved, but not sent within 30 minutes. Nothing was changed. Still wanted? Press *Request again* above.',
  )
  expect(brokenPromises(await scene.gather(2))).toEqual([])
  expect(scene.writes()).toHaveLength(1)
  await ada.click(await scene.untilCard(1, /\*Not started\*/), 'Request again')
  await slack.until(() => ada.topView())
})
