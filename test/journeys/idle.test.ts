import { expect, test } from 'vitest'
import { approveMove, figure, opsPage, requestMove, startWorld, untilReport } from './world.ts'

test('while nothing is in flight, ticks leave the account API alone, and only `/status` calls it', async () => {
  const world = await startWorld()
  const { accountApi } = world
  const ticks = () => figure(world, 'lockkeeper_tick_duration_seconds_count')
  const { card } = await approveMove(world)
  await untilReport(world.slack, card.ts, /Done/)
  // A request that waits for people is not in flight.
  await requestMove(world, { skip: 1 })

  const [calls, ticked] = [accountApi.journal.length, await ticks()]
  await expect.poll(ticks, { timeout: 10_000 }).toBeGreaterThan(ticked + 10)
  expect(accountApi.journal.length).toBe(calls)
  for (let probe = 0; probe < 3; probe += 1) expect(await opsPage(world, '/readyz')).toBe('{"ready":true}')
  expect(accountApi.journal.length).toBe(calls)
  for (let read = 0; read < 3; read += 1) expect(await opsPage(world, '/status')).toContain('"ok":true')
  expect(accountApi.journal.slice(calls).map(({ method, path }) => `${method} ${path.replace(/^.*\//, '')}`)).toHaveLength(1)
})
