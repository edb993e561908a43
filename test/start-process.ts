import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, inject, onTestFinished, vi } from 'vitest'
import { startAccountApi } from './sandbox/account-api/start-account-api.ts'
import { botProgram, botVariables } from './sandbox/bot-process.ts'
import { systemEnvironment } from './sandbox/programs.ts'
import { startSlack } from './sandbox/slack/start-slack.ts'
import { endsWithUs } from './sandbox/watchdog.ts'

/** Starts the real entry point, which `npm test` bundles, as a process, with no variables but these and those of the system. `options` are those of Node. */
export async function startProcess(
  env: Record<string, string>,
  { options = [], directory, program = botProgram('main') }: { options?: string[]; directory?: string; program?: string } = {},
) {
  const child = endsWithUs(
    spawn(process.execPath, [...options, program], {
      env: { ...systemEnvironment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(directory === undefined ? {} : { cwd: directory }),
    }),
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  let errors = ''
  child.stdout.on('data', (data) => (output += data))
  child.stderr.on('data', (data) => (errors += data))
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  /** Reads a page of the operations port, which opens first. */
  async function page(path: string): Promise<{ status: number; body: Record<string, unknown> }> {
    await vi.waitUntil(() => output.includes('"opsPort"'), { timeout: 20_000 })
    const answer = await fetch(`http://127.0.0.1:${/"opsPort":(\d+)/.exec(output)?.[1]}${path}`)
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }
  async function untilReady(timeout = 10_000): Promise<void> {
    await expect.poll(() => page('/readyz'), { timeout }).toEqual({ status: 200, body: { ready: true } })
    // The output of a process arrives a moment later.
    await vi.waitUntil(() => output.includes('Lockkeeper is ready'))
  }
  const slackUrl = () => `http://127.0.0.1:${/"slackPort":(\d+)/.exec(output)?.[1]}/slack/events`
  return { child, exited, output: () => output, errors: () => errors, page, untilReady, slackUrl }
}

/** Starts stand-ins for Slack and the account API, closed when the test ends. Returns them with the variables of a bot that uses them. */
export async function environment(more: Record<string, string> = {}, { socketMode = false } = {}) {
  const slack = await startSlack()
  onTestFinished(() => slack.close())
  const accountApi = await startAccountApi({ moveTakes: { min: 300, max: 300 } })
  onTestFinished(() => accountApi.close())
  return {
    slack,
    accountApi,
    env: {
      ...botVariables({ slack, accountApi, redisUrl: inject('redisUrl'), socketMode }),
      ALLOW_VOLATILE_REDIS: 'true',
      APPROVERS: 'U0BEN00001',
      MOVE_POLL_INTERVAL: '200ms',
      ...more,
    },
  }
}
