import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { formsOf } from '../journeys/canary.ts'
import { approveMove, ops, people, untilCard, untilReport, untilShown } from '../journeys/world.ts'
import { botProgram } from '../sandbox/bot-process.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import { startSlack } from '../sandbox/slack/start-slack.ts'
import { startScene } from './scene.ts'

const run = promisify(execFile)

function expectNowhere(passwords: string[], places: Record<string, string>): void {
  const found = Object.entries(places).flatMap(([place, text]) =>
    passwords.flatMap(formsOf).flatMap((form) => (text.includes(form) ? [`${form} in the ${place}`] : [])),
  )
  expect(found).toEqual([])
}

test.each([
  ['a single Redis', (password: string, port: number) => `redis://:${password}@127.0.0.1:${port}`],
  ['one with a user', (password: string, port: number) => `redis://somebody:${password}@127.0.0.1:${port}/3`],
  // What answers at the address of the Sentinels asks for a password before it says that it is none.
  ['Sentinel', (password: string, port: number) => `redis+sentinel://:${password}@127.0.0.1:${port}/primary`],
  ['Cluster', (password: string, port: number) => `redis+cluster://:${password}@127.0.0.1:${port}`],
])('a wrong password for %s ends the start in a sentence, and stands nowhere, however much is logged', async (_, addressWith) => {
  const slack = await startSlack()
  const redis = await startRedis({ appendonly: true })
  onTestFinished(async () => void (await Promise.all([slack.close(), redis.stop()])))
  const wrong = 'c4nary-of-redis/8f1d?&77#aa51'
  const env = {
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_SIGNING_SECRET: slack.signingSecret,
    SLACK_API_URL: slack.apiUrl,
    INFRA_API_URL: 'http://127.0.0.1:9',
    INFRA_API_KEY: 'a'.repeat(36),
    REDIS_URL: addressWith(encodeURIComponent(wrong), redis.port),
    APPROVERS: 'U0BEN00001',
    LOG_LEVEL: 'trace',
    PORT: '0',
    OPS_PORT: '0',
  }

  const ended = await run(process.execPath, [botProgram('main')], { env, timeout: 30_000 }).then(
    () => ({ code: 0, stdout: '', stderr: '' }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  )

  expect(ended.code).toBe(1)
  expect(ended.stderr).toMatch(/^(Redis rejects the user or the password|The Sentinels) in REDIS_URL .*\((WRONGPASS|NOAUTH)\)/)
  expectNowhere([wrong], { output: ended.stdout, errors: ended.stderr })
})

test('a password that is changed while the bot runs is shown nowhere, and the move goes on once it is right again', async () => {
  const world = await startScene({ env: { LOG_LEVEL: 'trace' }, moveTakesMs: 2_000 })
  const { slack, accountApi, bots, redis, admin } = world
  const { card } = await approveMove(world)
  await untilCard(slack, /\*Moving\*/)

  const other = 'another-canary-0c6b1e77d2'
  await admin.config('SET', 'requirepass', other)
  // Existing connections stay authenticated, so they are killed.
  await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  await expect.poll(() => bots.log.join('\n')).toMatch(/WRONGPASS/)
  await world.ben.click(card, 'Approve')
  await untilShown(slack, people.ben, /Redis\)? isn't responding/)
  await world.ada.command('/infra pending', { channel: ops })
  await untilShown(slack, people.ada, /database \(Redis\) isn't responding/)
  await admin.config('SET', 'requirepass', redis.password)

  await untilReport(slack, card.ts, /Done/)
  const pages = await Promise.all(['healthz', 'readyz', 'status', 'metrics'].map(async (page) => (await bots.page(0, `/${page}`)).text()))
  expect(accountApi.journal.writes()).toHaveLength(1)
  expect(bots.crashes).toEqual([])
  expectNowhere([redis.password, other], {
    log: bots.log.join('\n'),
    "operators' pages": pages.join('\n'),
    'calls to Slack': JSON.stringify(slack.journal),
    'account API': JSON.stringify(accountApi.journal),
  })
})
