import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { environment, startProcess } from '../start-process.ts'

/** Other tests run at the same time, and starting takes long then. */
const startsWithinMs = 30_000
const patience = { timeout: 60_000 }

const dotEnv = 'INFRA_API_KEY=lk_9f2c1b7e4d\n'

/** Returns the environment that a process began with, as every process of the same user can read it. */
async function environmentOf(pid: number): Promise<string> {
  if (process.platform === 'linux') return readFile(`/proc/${pid}/environ`, 'utf8')
  return (await promisify(execFile)('ps', ['eww', '-o', 'command=', '-p', String(pid)])).stdout
}

async function directoryForTest(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'lockkeeper-secrets-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  return directory
}

test('reads the environment of the process, and finds no secret that came from a file', patience, async () => {
  const { env } = await environment({ STATE_KEY: 'a-state-key-that-has-more-than-32-characters' })
  const names = ['SLACK_BOT_TOKEN', 'SLACK_SIGNING_SECRET', 'INFRA_API_KEY', 'REDIS_URL', 'STATE_KEY']
  const secrets = names.map((name) => (env as Record<string, string>)[name] ?? '')
  const directory = await directoryForTest()
  const files = await Promise.all(
    names.map(async (name, index) => {
      const file = join(directory, name.toLowerCase())
      await writeFile(file, `${secrets[index]}\n`, { mode: 0o600 })
      return [`${name}_FILE`, file] as const
    }),
  )

  // For its owner alone, so that the start does not warn of it.
  await writeFile(join(directory, '.env'), dotEnv, { mode: 0o600 })
  const others = Object.entries(env).filter(([name]) => !names.includes(name))
  const bot = await startProcess(Object.fromEntries([...others, ...files]), { directory })
  await bot.untilReady(startsWithinMs)
  expect(bot.output()).not.toContain('other users of this machine')
  const seen = await environmentOf(bot.child.pid ?? 0)

  expect(seen).toContain('SLACK_BOT_TOKEN_FILE')
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(7)
    expect(seen).not.toContain(secret)
  }
})

test('reads a .env that is not for its owner alone, of which the start warns', patience, async () => {
  const { env } = await environment()
  const directory = await directoryForTest()
  await writeFile(join(directory, '.env'), dotEnv)
  await chmod(join(directory, '.env'), 0o644)
  const bot = await startProcess(env, { directory })
  await bot.untilReady(startsWithinMs)

  const warned = bot.output()
  expect(warned).toMatch(/"level":"warn".*\.env holds secrets, and other users of this machine can read or change it \(mode 644\)/)
  expect(warned).not.toContain('lk_9f2c1b7e4d')
})
