import { expect, test } from 'vitest'
import { startScene } from '../faults/scene.ts'
import { botProgram } from '../sandbox/bot-process.ts'
import { approveMove, ops, patchesOf, untilReport } from './world.ts'

test('a bot that is killed while its write is under way, and again during the move, writes it once and reports its end once', async () => {
  // The bot as in production, in a process that can be killed.
  const world = await startScene({ program: botProgram('main'), moveTakesMs: 2_500 })
  const { slack, accountApi, bots } = world
  const fault = accountApi.faults.add({ method: 'PATCH', path: /elastic_ips/, kind: 'delay', delayMs: 1_000 })
  const { card } = await approveMove(world)
  await expect.poll(() => patchesOf(world).length).toBe(1)

  for (let kills = 0; kills < 2; kills += 1) {
    await bots.kill(0)
    await bots.start(0)
  }

  await untilReport(slack, card.ts, /Done/)
  expect(fault.fired).toBe(1)
  expect(patchesOf(world)).toHaveLength(1)
  expect(slack.thread(ops, card.ts).slice(1)).toHaveLength(1)
}, 60_000)
