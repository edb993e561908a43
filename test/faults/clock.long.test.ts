import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { ops, people, untilCard, untilReport, untilShown } from '../journeys/world.ts'
import { startStandInWorld } from './stand-in-world.ts'

const minutes = 60_000
const nodeOptions = ['--import', new URL('./wrong-clock.ts', import.meta.url).href]

/** Bots whose clocks are so much off, over Socket Mode: over HTTP, old signatures are refused by the bot's own clock. */
async function startBotsOff(off: number[], env: Record<string, string>) {
  const own = (index: number) => ({ CLOCK_OFF_MS: String(off[index] ?? 0) })
  const world = await startStandInWorld({ bots: off.length, socketMode: true, nodeOptions, own, env })
  const written = Date.parse(/"time":"([^"]+)"/.exec(world.bots.log[0] ?? '')?.[1] ?? '')
  // The fault is there: the log is written by the bot's clock.
  expect(off.some((ms) => Math.abs(written - Date.now() - ms) < minutes)).toBe(true)
  return world
}

async function askForMove({ accountApi, slack, ada }: Awaited<ReturnType<typeof startStandInWorld>>) {
  const { elasticIp, target } = accountApi.world.movable()
  await ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  return untilCard(slack, /Waiting for approval/)
}

describe.each([
  ['ahead', 10 * minutes],
  ['behind', -10 * minutes],
])('a clock that is ten minutes %s', (_, off) => {
  test('takes no time away from an approval: it counts, and the move is made', async () => {
    const world = await startBotsOff([off], { APPROVAL_TTL: '5m' })
    const card = await askForMove(world)

    await world.ben.click(card, 'Approve')

    await untilReport(world.slack, card.ts, /Done/)
    expect(world.accountApi.journal.writes()).toHaveLength(1)
    expect(world.bots.crashes).toEqual([])
  }, 40_000)

  test('gives no time to one that comes too late: it is refused, and nothing is done', async () => {
    // Nobody sweeps what has expired, so that only the click itself can find out.
    const world = await startBotsOff([off], { APPROVAL_TTL: '1s', ROLE: 'web' })
    const card = await askForMove(world)
    await delay(1_200)

    await world.ben.click(card, 'Approve')

    await untilShown(world.slack, people.ben, /expired/)
    await untilCard(world.slack, /\*Expired/)
    expect(world.accountApi.journal.writes()).toEqual([])
  }, 40_000)
})

test('two replicas with clocks twenty minutes apart carry a move out once, and let what nobody decides expire in time', async () => {
  const world = await startBotsOff([10 * minutes, -10 * minutes], { APPROVAL_TTL: '4s' })
  const card = await askForMove(world)
  await world.ben.click(card, 'Approve')
  await untilReport(world.slack, card.ts, /Done/)
  expect(world.accountApi.journal.writes()).toHaveLength(1)
  expect(world.slack.thread(ops, card.ts).slice(1)).toHaveLength(1)

  const second = await askForMove(world)
  const asked = Date.now()
  await untilReport(world.slack, second.ts, /Expired/)
  expect(Date.now() - asked).toBeLessThan(12_000)
  expect(world.accountApi.journal.writes()).toHaveLength(1)
}, 60_000)
