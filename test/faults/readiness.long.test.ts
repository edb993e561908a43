import { expect, test } from 'vitest'
import { type Scene, startScene } from './scene.ts'

async function statusOf({ bots }: Scene) {
  const answer = await bots.page(0, '/status')
  type Name = 'redis' | 'redisSettings' | 'accountApi' | 'slack' | 'slackSignature' | 'stateKey' | 'worker' | 'clock'
  const { checks } = (await answer.json()) as { checks: Record<Name, { ok: boolean; problem?: string; since?: string }> }
  return { status: answer.status, ...checks }
}

const fine = { ok: true }
const allWell = {
  status: 200,
  redis: fine,
  redisSettings: fine,
  accountApi: fine,
  slack: fine,
  slackSignature: fine,
  stateKey: fine,
  worker: fine,
  clock: fine,
}

async function isInService({ bots }: Scene): Promise<boolean> {
  const pages = await Promise.all(['/healthz', '/readyz'].map((path) => bots.page(0, path)))
  return pages.every(({ ok }) => ok)
}

test('/status names what the bot lacks until it is back, and no replica is taken out of service', async () => {
  const scene = await startScene()
  const { slack, accountApi, redis, bots } = scene
  expect(await statusOf(scene)).toEqual(allWell)

  slack.revoke('token_revoked')
  const away = accountApi.faults.add({ method: 'GET', kind: 'status', status: 503, times: 1_000_000 })
  // Slack is probed at most every 30 s, and the account API every 50 s.
  await expect
    .poll(() => statusOf(scene), { timeout: 70_000, interval: 1_000 })
    .toMatchObject({
      status: 503,
      redis: fine,
      accountApi: { ok: false, problem: expect.stringMatching(/^Returned an error \(503\)/) },
      slack: { ok: false, problem: expect.stringMatching(/^Slack rejects SLACK_BOT_TOKEN \(token_revoked\)\./) },
      worker: fine,
    })
  expect(away.fired).toBeGreaterThan(0)
  expect(await isInService(scene)).toBe(true)
  const { since } = (await statusOf(scene)).slack
  expect(Date.parse(since ?? '')).toBeLessThanOrEqual(Date.now())

  await redis.kill()
  await expect
    .poll(() => statusOf(scene))
    .toMatchObject({
      status: 503,
      redis: { ok: false, problem: expect.stringMatching(/^Not responding/) },
      slack: { since },
      worker: { ok: false, problem: 'Unknown while the check of Redis fails' },
    })
  expect(await isInService(scene)).toBe(true)

  await redis.restart()
  away.times = 0
  slack.revoke(null)
  await expect.poll(() => statusOf(scene), { timeout: 70_000, interval: 1_000 }).toEqual(allWell)
  // The output of a process is read with a short delay. There is one line for the end of each of the seven.
  await expect.poll(() => bots.log.filter((line) => line.includes('"A check passes again"'))).toHaveLength(7)
  const failed = bots.log.filter((line) => line.includes('"A check failed"')).map((line) => JSON.parse(line).problem)
  // That of the account API is another one while Redis is away, and then perhaps the first again.
  expect(new Set(failed.filter((problem) => /^Returned an error|^Slack/.test(problem))).size).toBe(2)
})
