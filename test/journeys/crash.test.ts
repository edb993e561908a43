import { expect, type TestContext, test } from 'vitest'
import { startStandInWorld } from '../faults/stand-in-world.ts'
import type { AccountApi } from '../sandbox/account-api/start-account-api.ts'
import { botProgram } from '../sandbox/bot-process.ts'
import { ops, untilCard, untilReport } from './world.ts'

const program = botProgram('main')

/** Runs the bot as in production, in a process that can be killed. */
function startWorldWithProcess(moveTakesMs: number, { onTestFinished: onEnd }: TestContext) {
  return startStandInWorld({ program, account: { moveTakes: { min: moveTakesMs, max: moveTakesMs } }, onEnd })
}

function patchesOf(accountApi: AccountApi) {
  return accountApi.journal.writes().filter(({ method }) => method === 'PATCH')
}

test.concurrent('a bot that is killed during a move and started again tracks the move to its end and reports it once', async (context) => {
  const { slack, accountApi, bots, ada, ben } = await startWorldWithProcess(1_500, context)
  const { elasticIp, target } = accountApi.world.movable()
  await ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  const card = await untilCard(slack, /needs approval from/)
  await ben.click(card, 'Approve')
  await untilCard(slack, /\*Moving\*/)

  await bots.kill(0)
  await bots.start(0)

  await untilReport(slack, card.ts, /Done/)
  await untilCard(slack, /\*Done\.?\*/)
  expect(patchesOf(accountApi)).toHaveLength(1)
  expect(slack.thread(ops, card.ts).slice(1)).toHaveLength(1)
}, 40_000)

test.concurrent('a bot that is killed while the write is under way never sends it again', async (context) => {
  const { slack, accountApi, bots, ada, ben } = await startWorldWithProcess(500, context)
  const { elasticIp, target } = accountApi.world.movable()
  const fault = accountApi.faults.add({ method: 'PATCH', path: /elastic_ips/, times: 1, kind: 'delay', delayMs: 1_000 })
  await ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  const card = await untilCard(slack, /needs approval from/)
  await ben.click(card, 'Approve')
  await expect.poll(() => patchesOf(accountApi).length).toBe(1)

  await bots.kill(0)
  await bots.start(0)

  await untilReport(slack, card.ts, /Done/)
  expect(fault.fired).toBe(1)
  expect(patchesOf(accountApi)).toHaveLength(1)
}, 40_000)
