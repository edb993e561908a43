import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { botProgram, botPrograms } from './sandbox/bot-process.ts'
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
})
