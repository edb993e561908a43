import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startOwnRedis } from './given/redis.ts'
import { ops, people, untilShown } from './journeys/world.ts'
import { systemEnvironment } from './sandbox/programs.ts'
import { startRedis } from './sandbox/redis/start-redis.ts'
import { endsWithUs } from './sandbox/watchdog.ts'
import { environment, startProcess } from './start-process.ts'

describe('a start', () => {
  test('with a user of Redis that has no right to use REDIS_PREFIX fails with a sentence that names the keys', async () => {
    const server = await startRedis({ appendonly: true, settings: ['user narrow on >hunter2 ~{lockkeeper}:* +@all'] })
    onTestFinished(() => server.stop())
    const REDIS_URL = `redis://narrow:hunter2@127.0.0.1:${server.port}`
    const { env } = await environment({ REDIS_URL, REDIS_PREFIX: 'staging' })
    const { exited, output, errors } = await startProcess(env)

    expect(await exited).toBe(1)
    expect(errors()).toMatch(/^The user in REDIS_URL has no right to use the keys \{staging\}:\*, /)
    expect(output() + errors()).not.toContain('hunter2')
  })

  test('waits while Redis refuses writes, and goes on when it takes them', async () => {
    const { server, redis } = await startOwnRedis({ appendonly: true, settings: ['maxmemory 100kb'] })
    const { slack, env } = await environment({ REDIS_URL: server.url, ALLOW_VOLATILE_REDIS: 'false' })
    const { output, page, untilReady, slackUrl } = await startProcess(env)

    await expect.poll(output).toContain('Redis refuses writes, because its memory is full (OOM).')
    expect((await page('/status')).body.checks).toMatchObject({
      redis: { ok: false, problem: expect.stringMatching(/^Refuses writes, because its memory is full \(OOM\)\./) },
      redisSettings: { ok: false, problem: 'Unknown while the check of Redis fails' },
      worker: { ok: false, problem: 'Unknown while the check of Redis fails' },
    })
    await untilReady()
    slack.connectBot(slackUrl())
    const ada = slack.as(people.ada)
    await ada.command('/infra pending', { channel: ops })
    await untilShown(slack, people.ada, /database \(Redis\) refuses writes, because its memory is full/)
    await ada.command('/infra doctor', { channel: ops })
    await untilShown(slack, people.ada, /\*Redis:\* Refuses writes, because its memory is full \(OOM\)/)
    await redis.config('SET', 'maxmemory', '0')
    await expect.poll(() => page('/status')).toMatchObject({ status: 200 })
  })

  test('is followed by words about a right of the user of Redis that somebody removes', async () => {
    const { server, redis } = await startOwnRedis({ appendonly: true, settings: ['user bot on >hunter2 ~{lockkeeper-eu}:* +@all'] })
    const REDIS_URL = `redis://bot:hunter2@127.0.0.1:${server.port}`
    const { slack, env } = await environment({ REDIS_URL, REDIS_PREFIX: 'lockkeeper-eu', ALLOW_VOLATILE_REDIS: 'false' })
    const { output, page, untilReady, slackUrl } = await startProcess(env)
    await untilReady()
    slack.connectBot(slackUrl())
    await expect.poll(() => page('/status')).toMatchObject({ status: 200 })

    await redis.call('ACL', 'SETUSER', 'bot', 'resetkeys')

    await expect
      .poll(async () => (await page('/status')).body.checks)
      .toMatchObject({ redis: { problem: expect.stringMatching(/^The user in REDIS_URL has no right to .* \(NOPERM\)/) } })
    await expect.poll(output).toMatch(/"code":"check-failed".*The user in REDIS_URL has no right to .* \(NOPERM\)/)
    const ada = slack.as(people.ada)
    await ada.command('/infra pending', { channel: ops })
    await untilShown(slack, people.ada, /database \(Redis\) refuses Lockkeeper's user\. Your last step wasn't stored/)
    await ada.command('/infra doctor', { channel: ops })
    await untilShown(slack, people.ada, /\*Redis:\* The user in REDIS_URL has no right to use the keys \{lockkeeper-eu\}/)
  })

  test.each(['OPS_PORT', 'PORT'])('with another program at %s fails with a sentence', async (variable) => {
    const other = createServer().listen(0)
    onTestFinished(() => void other.close())
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    const { env } = await environment({ [variable]: String(port) })
    const { exited, errors } = await startProcess(env)

    expect(await exited).toBe(1)
    expect(errors()).toBe(`${variable} ${port} is used by another program. Choose another port, or stop that program.\n`)
  })

  test.each(['OPS_HOST', 'HOST'])('with an address of another machine at %s ends with a sentence', async (variable) => {
    const { env } = await environment({ [variable]: '192.0.2.1' })
    const { exited, errors } = await startProcess(env)

    expect(await exited).toBe(1)
    expect(errors()).toBe(`${variable} 192.0.2.1 is not an address of this machine. Set one that is, or 0.0.0.0 for all of them.\n`)
  })

  test('with a Redis that evicts keys and does not write to disk fails with the settings to change, unless that is allowed', async () => {
    const redis = await startRedis({ appendonly: false, settings: ['maxmemory-policy allkeys-lru'] })
    onTestFinished(() => redis.stop())
    const { env } = await environment({ REDIS_URL: redis.url, ALLOW_VOLATILE_REDIS: 'false' })
    const refused = await startProcess(env)
    const allowed = await startProcess({ ...env, ALLOW_VOLATILE_REDIS: 'true' })

    expect(await refused.exited).toBe(1)
    expect(refused.errors()).toMatch(
      /^Redis evicts keys when its memory is full \(maxmemory-policy allkeys-lru\)\. Set it to noeviction\. /m,
    )
    expect(refused.errors()).toMatch(/Redis doesn't write changes to disk \(appendonly no\)\. Set appendonly yes\. For development only,/)
    await expect.poll(allowed.output).toContain('Lockkeeper is ready')
    expect(allowed.output()).toMatch(/"level":"warn".*maxmemory-policy allkeys-lru/)
    expect(allowed.output()).toMatch(/"level":"warn".*appendonly no/)
  })

  test('by `npm start` ends with npm: a SIGTERM to npm leaves no node behind', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lockkeeper-npm-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    // A link to each, because a developer may have a .env beside them.
    for (const name of ['package.json', 'node_modules', 'scripts', 'src'])
      await symlink(join(import.meta.dirname, '..', name), join(folder, name))
    const { env } = await environment()
    const npm = endsWithUs(spawn('npm', ['start'], { cwd: folder, env: { ...systemEnvironment(), ...env }, detached: true }))
    onTestFinished(() => void group('SIGKILL'))
    /** Sends a signal to npm and all that it has started. Undefined if they get it. */
    function group(signal: NodeJS.Signals | 0): string | undefined {
      try {
        process.kill(-(npm.pid ?? 0), signal)
      } catch (error) {
        return (error as NodeJS.ErrnoException).code
      }
    }
    let output = ''
    for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (data) => (output += data))
    const page = () => fetch(`http://127.0.0.1:${/"opsPort":(\d+)/.exec(output)?.[1]}/healthz`).then(({ status }) => status)
    await expect.poll(() => output, { timeout: 50_000 }).toContain('Lockkeeper is ready')
    expect(await page()).toBe(200)

    npm.kill('SIGTERM')

    await expect.poll(() => group(0), { timeout: 15_000 }).toBe('ESRCH')
  })
})
