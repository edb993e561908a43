import { expect, test } from 'vitest'
import { type Scene, startScene } from './scene.ts'

async function readyz({ bots }: Scene) {
  const answer = await bots.page(0, '/readyz')
  const { checks } = (await answer.json()) as { checks: Record<string, string> }
  return { status: answer.status, ...checks }
}

const allWell = { status: 200, redis: 'ok', accountApi: 'ok', slack: 'ok', ticks: 'ok' }

test('what the bot needs and does not have is said at /readyz in words, and taken back when it is there again', async () => {
  const scene = await startScene()
  const { slack, account, redis, bots } = scene
  expect(await readyz(scene)).toEqual(allWell)

  slack.revoke('token_revoked')
  const away = account.faults.add({ method: 'GET', kind: 'status', status: 503, times: 1_000_000 })
  // Slack and the account API are asked twice a minute at most.
  await expect
    .poll(() => readyz(scene), { timeout: 40_000, interval: 1_000 })
    .toEqual({
      status: 503,
      redis: 'ok',
      accountApi: 'The account API does not answer, or rejects the key',
      slack: 'Slack does not answer, or rejects the token',
      ticks: 'ok',
    })
  expect(away.fired).toBeGreaterThan(0)

  await redis.kill()
  await expect.poll(() => readyz(scene), { timeout: 5_000 }).toMatchObject({ status: 503, redis: 'Redis does not answer' })
  expect((await bots.page(0, '/healthz')).status).toBe(200)

  await redis.restart()
  away.times = 0
  slack.revoke(null)
  await expect.poll(() => readyz(scene), { timeout: 40_000, interval: 1_000 }).toEqual(allWell)
  // What a process has written is read a moment later.
  await expect.poll(() => bots.log.filter((line) => line.includes('"ready again"'))).toHaveLength(1)
}, 120_000)
