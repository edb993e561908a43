import { expect, test } from 'vitest'
import { ops, startWorld, untilCard, untilReport } from './world.ts'

test('while nothing is in flight, ticks leave the account API alone, and only `/status` calls it', async () => {
  const world = await startWorld()
  const { slack, accountApi, bots, ada, ben } = world
  const page = async (path: string) => (await fetch(`http://127.0.0.1:${bots[0]?.opsPort}${path}`)).text()
  const ticks = async () => Number(/^lockkeeper_tick_duration_seconds_count (\d+)$/m.exec(await page('/metrics'))?.[1])
  const first = accountApi.world.movable(0)
  await ada.command(`/infra ip move ${first.elasticIp.address} ${first.target.hostname}`, { channel: ops })
  const card = await untilCard(slack, /needs approval from/)
  await ben.click(card, 'Approve')
  await untilReport(slack, card.ts, /Done/)
  // A request that waits for people is not in flight.
  const second = accountApi.world.movable(1)
  await ada.command(`/infra ip move ${second.elasticIp.address} ${second.target.hostname}`, { channel: ops })
  await untilCard(slack, /needs approval from/)

  const [calls, ticked] = [accountApi.journal.length, await ticks()]
  await expect.poll(ticks, { timeout: 10_000 }).toBeGreaterThan(ticked + 10)
  expect(accountApi.journal.length).toBe(calls)
  for (let probe = 0; probe < 3; probe += 1) expect(await page('/readyz')).toBe('{"ready":true}')
  expect(accountApi.journal.length).toBe(calls)
  for (let read = 0; read < 3; read += 1) expect(await page('/status')).toContain('"ok":true')
  expect(accountApi.journal.slice(calls).map(({ method, path }) => `${method} ${path.replace(/^.*\//, '')}`)).toHaveLength(1)
})
