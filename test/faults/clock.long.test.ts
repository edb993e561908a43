import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { ops, people, requestMove, untilCard, untilReport, untilShown } from '../journeys/world.ts'
import { environment, startProcess } from '../start-process.ts'
import { startScene } from './scene.ts'

const minutes = 60_000
const nodeOptions = ['--import', new URL('./wrong-clock.ts', import.meta.url).href]

/** Starts bots with wrong clocks over Socket Mode. Over HTTP, the bot's own clock would reject the signatures. */
async function startBotsOff(off: number[], env: Record<string, string>) {
  const own = (index: number) => ({ CLOCK_OFF_MS: String(off[index] ?? 0) })
  const world = await startScene({ bots: off.length, socketMode: true, nodeOptions, own, env })
  const written = Date.parse(/"time":"([^"]+)"/.exec(world.bots.log[0] ?? '')?.[1] ?? '')
  // Shows that the fault happens: the times in the log come from the bot's clock.
  expect(off.some((ms) => Math.abs(written - Date.now() - ms) < minutes)).toBe(true)
  return world
}

describe.each([
  ['ahead', 10 * minutes],
  ['behind', -10 * minutes],
])('a clock that is ten minutes %s', (_, off) => {
  test('does not shorten the time to approve: the approval counts, and the move is made', async () => {
    const world = await startBotsOff([off], { APPROVAL_TTL: '5m' })
    const { card } = await requestMove(world)

    await world.ben.click(card, 'Approve')

    await untilReport(world.slack, card.ts, /Done/)
    expect(world.accountApi.journal.writes()).toHaveLength(1)
    expect(world.bots.crashes).toEqual([])
  })

  test('does not lengthen the time to approve: a late approval is refused, and nothing is done', async () => {
    // No worker runs, so that only the click itself can find that the request has expired.
    const world = await startBotsOff([off], { APPROVAL_TTL: '1s', ROLE: 'web' })
    const { card } = await requestMove(world)
    await delay(1_200)

    await world.ben.click(card, 'Approve')

    await untilShown(world.slack, people.ben, /expired/)
    await untilCard(world.slack, /\*Expired/)
    expect(world.accountApi.journal.writes()).toEqual([])
  })
})

test('two replicas with clocks twenty minutes apart execute a move once, and let a request without a decision expire in time', async () => {
  const world = await startBotsOff([10 * minutes, -10 * minutes], { APPROVAL_TTL: '4s' })
  const { card } = await requestMove(world)
  await world.ben.click(card, 'Approve')
  await untilReport(world.slack, card.ts, /Done/)
  expect(world.accountApi.journal.writes()).toHaveLength(1)
  expect(world.slack.thread(ops, card.ts).slice(1)).toHaveLength(1)

  const { card: second } = await requestMove(world)
  const startedAt = Date.now()
  await untilReport(world.slack, second.ts, /Expired/)
  expect(Date.now() - startedAt).toBeLessThan(12_000)
  expect(world.accountApi.journal.writes()).toHaveLength(1)
})

test('over HTTP, a replica whose clock is ten minutes ahead is taken out of service, and says why', async () => {
  const { env } = await environment({ CLOCK_OFF_MS: String(10 * minutes) })
  const bot = await startProcess(env, { options: nodeOptions })

  const why = expect.stringMatching(
    /^Lockkeeper's host is (10|9).min.* ahead of Slack \(at 5 min, Lockkeeper refuses requests from Slack\)\./,
  )
  await expect.poll(() => bot.page('/readyz'), { timeout: 40_000 }).toEqual({ status: 503, body: { ready: false, why } })
  const problem = expect.stringMatching(/^Lockkeeper's host is (10|9).min.* ahead of Redis \(deadlines use the clock of Redis\)\./)
  expect(await bot.page('/status')).toMatchObject({ status: 503, body: { checks: { clock: { ok: false, problem } } } })
})
