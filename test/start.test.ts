import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { botProgram, botPrograms } from './sandbox/bot-process.ts'
import { systemEnvironment } from './sandbox/programs.ts'
import { endsWithUs } from './sandbox/watchdog.ts'
import { environment, startProcess } from './start-process.ts'

/** Throws for a file that no command of the bot runs. */
function bundleOf(file: string): string {
  const name = (['main', 'verify'] as const).find((each) => botPrograms[each] === file)
  if (name === undefined) throw new Error(`${file} has no bundle`)
  return botProgram(name)
}

describe('a start', () => {
  test('with a bad configuration fails with a line for every bad or missing variable, and no stack trace', async () => {
    const { exited, errors } = await startProcess({ SLACK_BOT_TOKEN: 'hunter2', PORT: 'many', APPROVERS: 'ben', APPROVAL_TTL: 'a while' })

    expect(await exited).toBe(1)
    expect(errors()).not.toMatch(/^\s+at /m)
    expect(errors()).not.toContain('hunter2')
    for (const name of [
      'SLACK_BOT_TOKEN',
      'SLACK_SIGNING_SECRET',
      'INFRA_API_URL',
      'INFRA_API_KEY',
      'REDIS_URL',
      'PORT',
      'APPROVERS',
      'APPROVAL_TTL',
    ]) {
      expect(errors()).toMatch(new RegExp(`^${name} `, 'm'))
    }
  })

  test('with approvers whom Slack does not have fails with a line for each, and not if Slack only does not say', async () => {
    const { env } = await environment({ APPROVERS: 'U0NOBODY01,S0NOBODY01,U0BEN00001' })
    const { exited, errors, output } = await startProcess(env)

    expect(await exited).toBe(1)
    expect(errors()).toMatchInlineSnapshot(`
      "The setting APPROVERS names S0NOBODY01, and Slack has no user group with this id. Copy the id from Slack (the group's page, three dots, Copy group ID) and restart.
      The setting APPROVERS names U0NOBODY01, and Slack has no person with this id. Copy the id from Slack (the person's profile, three dots, Copy member ID) and restart.
      "
    `)
    expect(output()).not.toContain('Lockkeeper is ready')
  })

  test.each(['start', 'audit:verify'])('by `npm run %s` reads the file .env, as the README says', async (script) => {
    const directory = await mkdtemp(join(tmpdir(), 'lockkeeper-env-'))
    onTestFinished(() => rm(directory, { recursive: true }))
    await writeFile(join(directory, '.env'), `REDIS_URL=${inject('redisUrl')}\nINFRA_API_KEY=short\n`)
    const root = join(import.meta.dirname, '..')
    const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
    const [program = '', ...options] =
      (scripts[script] ?? '')
        .split(/ && (?:exec )?node /)[1]
        ?.split(' ')
        .toReversed() ?? []

    const child = endsWithUs(
      spawn(process.execPath, [...options.toReversed(), bundleOf(join(root, program))], {
        cwd: directory,
        env: { INFRA_API_KEY: 'a'.repeat(36) },
      }),
    )
    onTestFinished(() => void child.kill('SIGKILL'))
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data))
    await once(child, 'close')

    expect(output).toMatch(script === 'start' ? /^SLACK_BOT_TOKEN /m : /^Nothing to verify/)
    expect(output).not.toMatch(/^(REDIS_URL|INFRA_API_KEY) /m)
  })

  test('with everything in place is logged, and SIGTERM ends the process', async () => {
    const { env } = await environment()
    const { child, exited, output } = await startProcess(env)
    await expect.poll(output, { timeout: 50_000 }).toContain('Lockkeeper is ready')

    child.kill('SIGTERM')

    expect(await exited).toBe(0)
  })

  test('by `npm start` ends with npm: a SIGTERM to npm leaves no node behind', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lockkeeper-npm-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    // A link to each, because a developer may have a .env beside them.
    for (const name of ['package.json', 'node_modules', 'scripts', 'src'])
      await symlink(join(import.meta.dirname, '..', name), join(folder, name))
    // As in production, and not the bundle of the other tests. Nobody else would read what it writes into the compile cache.
    const { env } = await environment({ NODE_DISABLE_COMPILE_CACHE: '1' })
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
  }, 80_000)
})
