import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { systemEnvironment } from './programs.ts'
import { endsWithUs } from './watchdog.ts'

const main = fileURLToPath(new URL('./main.ts', import.meta.url))

test('it prints the address of the page when everything is ready, also over Socket Mode, and a signal ends everything', async () => {
  const sandbox = run({ SANDBOX_PORT: '0', SANDBOX_TRANSPORT: 'socket' })
  const address = await sandbox.said(/ {4}(http:\/\/127\.0\.0\.1:\d+)\n/)
  const page = await fetch(address)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')

  sandbox.process.kill('SIGTERM')

  const [code] = await once(sandbox.process, 'exit')
  expect(code).toBe(0)
  await expect(fetch(address)).rejects.toThrow()
}, 150_000)

function run(env: Record<string, string>) {
  const child: ChildProcess = endsWithUs(
    spawn(process.execPath, [main], {
      env: { ...process.env, ...systemEnvironment(), npm_lifecycle_event: '', ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout?.on('data', (chunk) => {
    output += chunk
  })

  return {
    process: child,
    async said(pattern: RegExp): Promise<string> {
      await expect.poll(() => output, { timeout: 120_000 }).toMatch(pattern)
      return pattern.exec(output)?.[1] ?? ''
    },
  }
}
