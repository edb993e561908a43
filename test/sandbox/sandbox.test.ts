import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemEnvironment } from './programs.ts'
import { endsWithUs } from './watchdog.ts'

test('it prints the address of the page when everything is ready, also over Socket Mode, and a signal ends everything', async () => {
  const child = endsWithUs(
    spawn(process.execPath, [join(import.meta.dirname, 'main.ts')], {
      env: { ...process.env, ...systemEnvironment(), npm_lifecycle_event: '', SANDBOX_PORT: '0', SANDBOX_TRANSPORT: 'socket' },
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  const address = () => / {4}(http:\/\/127\.0\.0\.1:\d+)\n/.exec(output)?.[1] ?? ''
  await expect.poll(address, { timeout: 120_000 }).not.toBe('')
  const page = await fetch(address())
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')

  child.kill('SIGTERM')

  const [code] = await once(child, 'exit')
  expect(code).toBe(0)
  await expect(fetch(address())).rejects.toThrow()
}, 150_000)
