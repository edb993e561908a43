import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, inject, type TestContext, test } from 'vitest'
import { startAccountApi } from '../sandbox/account-api/start-account-api.ts'
import { startSlack } from '../sandbox/slack/start-slack.ts'
import { systemEnvironment } from '../sandbox/system-environment.ts'
import { ops, people, untilCard, untilReport } from './world.ts'

const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts')

/** The stand-ins in this process, and the real bot in one that can be killed. */
async function startWorldWithProcess(moveTakesMs: number, { onTestFinished }: TestContext) {
  const slack = await startSlack()
  const accountApi = await startAccountApi({ moveTakes: { min: moveTakesMs, max: moveTakesMs } })
  onTestFinished(async () => void (await Promise.all([slack.close(), accountApi.close()])))
  const env = {
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_SIGNING_SECRET: slack.signingSecret,
    SLACK_API_URL: slack.apiUrl,
    INFRA_API_URL: accountApi.url,
    INFRA_API_KEY: accountApi.key,
    REDIS_URL: inject('redisUrl'),
    REDIS_PREFIX: `test-${randomBytes(6).toString('hex')}`,
    ALLOW_VOLATILE_REDIS: 'true',
    APPROVERS: 'S0ONCALL01',
    MOVE_POLL_INTERVAL: '200ms',
    PORT: '0',
    OPS_PORT: '0',
  }

  /** Starts the bot and points Slack at it; the answer kills it without a word. */
  async function startBot(): Promise<() => Promise<void>> {
    const child = spawn(process.execPath, [main], { env: { ...systemEnvironment(), ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    let output = ''
    child.stdout.on('data', (data) => (output += data))
    await expect.poll(() => output, { timeout: 15_000 }).toContain('Lockkeeper is ready')
    const port = /"slackPort":(\d+)/.exec(output)?.[1]
    slack.connectBot(`http://127.0.0.1:${port}/slack/events`)
    return async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  }

  return { slack, accountApi, startBot, ada: slack.as(people.ada), ben: slack.as(people.ben) }
}

function patchesOf(accountApi: Awaited<ReturnType<typeof startAccountApi>>) {
  return accountApi.journal.writes().filter(({ method }) => method === 'PATCH')
}

test.concurrent('a bot that is killed during a move and started again ends the move and reports it once', async (context) => {
  const { slack, accountApi, startBot, ada, ben } = await startWorldWithProcess(1_500, context)
  const kill = await startBot()
  const { elasticIp, target } = accountApi.world.movable()
  await ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  const card = await untilCard(slack, /Waiting for approval/)
  await ben.click(card, 'Approve')
  await untilCard(slack, /\*Moving\*/)

  await kill()
  await startBot()

  await untilReport(slack, card.ts, /Done/)
  await untilCard(slack, /\*Done\.?\*/)
  expect(patchesOf(accountApi)).toHaveLength(1)
  expect(slack.thread(ops, card.ts).slice(1)).toHaveLength(1)
}, 40_000)

test.concurrent('a bot that is killed while the write is under way never sends it again', async (context) => {
  const { slack, accountApi, startBot, ada, ben } = await startWorldWithProcess(500, context)
  const kill = await startBot()
  const { elasticIp, target } = accountApi.world.movable()
  const fault = accountApi.faults.add({ method: 'PATCH', path: /elastic_ips/, times: 1, kind: 'delay', delayMs: 1_000 })
  await ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  const card = await untilCard(slack, /Waiting for approval/)
  await ben.click(card, 'Approve')
  await expect.poll(() => patchesOf(accountApi).length, { timeout: 10_000 }).toBe(1)

  await kill()
  await startBot()

  await untilReport(slack, card.ts, /Done/)
  expect(fault.fired).toBe(1)
  expect(patchesOf(accountApi)).toHaveLength(1)
}, 40_000)
