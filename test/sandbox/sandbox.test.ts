import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { systemEnvironment } from './programs.ts'
import { startSandbox } from './sandbox.ts'
import { endsWithUs } from './watchdog.ts'

const main = fileURLToPath(new URL('./main.ts', import.meta.url))
const [ada, ops] = ['U0ADA00001', 'C0OPS00001']

test('it prints the address of the page when everything is ready, and a signal ends everything', async () => {
  const sandbox = run({ SANDBOX_PORT: '0' })
  const address = await sandbox.said(/ {4}(http:\/\/127\.0\.0\.1:\d+)\n/)
  const page = await fetch(address)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')

  sandbox.process.kill('SIGTERM')

  const [code] = await once(sandbox.process, 'exit')
  expect(code).toBe(0)
  await expect(fetch(address)).rejects.toThrow()
})

test('a taken port is reported in one sentence', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  const sandbox = run({ SANDBOX_PORT: String(port) })

  const [code] = await once(sandbox.process, 'close')
  expect(code).toBe(1)
  expect(sandbox.errors()).toBe(
    `Port ${port} is taken on this machine. Set SANDBOX_PORT to another one, such as SANDBOX_PORT=${port + 1}.\n`,
  )
})

test('over Socket Mode the bot answers too, and a killed one is started again at the same place', async () => {
  const ended: string[] = []
  const sandbox = await startSandbox({ transport: 'socket', botEnded: (how) => ended.push(how) })
  onTestFinished(sandbox.close)

  const before = await sandbox.slack.as(ada).command('/infra help', { channel: ops })
  await sandbox.bot.kill('SIGKILL')
  await sandbox.bot.start()
  const after = await sandbox.slack.as(ada).command('/infra help', { channel: ops })

  expect([before.outcome, after.outcome]).toEqual(['acknowledged', 'acknowledged'])
  expect(ended).toEqual([])
})

function run(env: Record<string, string>) {
  const child: ChildProcess = endsWithUs(
    spawn(process.execPath, [main], {
      env: { ...process.env, ...systemEnvironment(), npm_lifecycle_event: '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  let errors = ''
  child.stderr?.on('data', (chunk) => {
    errors += chunk
  })
  child.stdout?.on('data', (chunk) => {
    output += chunk
  })

  return {
    process: child,
    errors: () => errors,
    async said(pattern: RegExp): Promise<string> {
      await expect.poll(() => output, { timeout: 15_000 }).toMatch(pattern)
      return pattern.exec(output)?.[1] ?? ''
    },
  }
}
