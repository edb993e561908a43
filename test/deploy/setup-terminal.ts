import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseEnv, stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, beforeEach, inject, onTestFinished } from 'vitest'
import { checkAll } from '../../scripts/setup/checks.ts'
import { type AccountApi, startAccountApi } from '../sandbox/account-api/start-account-api.ts'
import { botProgram } from '../sandbox/bot-process.ts'
import { systemEnvironment } from '../sandbox/programs.ts'
import { type Slack, startSlack } from '../sandbox/slack/start-slack.ts'
import { endChild, endsWithUs, temporaryFolder } from '../sandbox/watchdog.ts'

export let slack: Slack
export let accountApi: AccountApi
/** Where the test runs the set-up. */
export let folder = ''

/** Starts the stand-ins of a file, and gives each of its tests a folder. */
export function setStage(): void {
  beforeAll(async () => {
    slack = await startSlack()
    accountApi = await startAccountApi()
  })
  afterAll(async () => {
    await Promise.all([slack.close(), accountApi.close()])
  })
  beforeEach(async () => {
    const made = await temporaryFolder('setup')
    folder = made.folder
    onTestFinished(made.remove)
  })
}

/** Where the stand-ins are, and not what is asked. */
export const stage = () => ({ SLACK_API_URL: slack.apiUrl, REDIS_PREFIX: basename(folder), OPS_PORT: '0' })

export const answers = () => ({
  SLACK_BOT_TOKEN: slack.botToken,
  SLACK_APP_TOKEN: slack.appToken,
  INFRA_API_URL: accountApi.url,
  INFRA_API_KEY: accountApi.key,
  REDIS_URL: inject('redisUrl'),
  APPROVERS: 'S0ONCALL01',
  OPS_CHANNEL: 'C0OPS00001',
})

export const written = () => parseEnv(readFileSync(join(folder, '.env'), 'utf8'))
export const posts = () => slack.calls('chat.postMessage').length

const program = botProgram('setup')

export const keys = { enter: '\r', ctrlC: '\x03', tab: '\t', escape: '\x1b', up: '\x1b[A', down: '\x1b[B', ctrlD: '\x04', ctrlZ: '\x1a' }

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

interface SetupOptions {
  /** Default: that of the test. */
  directory?: string
  env?: Record<string, string>
  args?: string[]
}

const environment = (env: SetupOptions['env']) => ({ ...systemEnvironment(), HOME: folder, TERM: 'xterm-256color', ...env })

/**
 * Runs the set-up on the stage, in a pseudo-terminal of 80 columns, which `script` of util-linux and of macOS opens. `inShell`: as a job of an
 * interactive shell, below a process that waits for it, as npm does.
 */
export function openTerminal(env: Record<string, string> = {}, { inShell = false } = {}) {
  const setup = [process.execPath, program].map(quoted).join(' ')
  const command = `stty cols 80 rows 40; exec ${inShell ? 'bash --norc -i' : setup}`
  const ofScript = process.platform === 'darwin' ? ['-q', '/dev/null', 'sh', '-c', command] : ['-qefc', command, '/dev/null']
  const child = endsWithUs(
    spawn('script', ofScript, { cwd: folder, env: environment({ ...stage(), ...env }), stdio: ['pipe', 'pipe', 'pipe'] }),
  )
  onTestFinished(() => endChild(child, 'SIGKILL'))
  if (inShell) child.stdin.write(`sh -c ${quoted(`${setup}; exit $?`)}\r`)
  let raw = ''
  let seen = 0
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (raw += chunk))
  const output = () => stripVTControlCharacters(raw).replaceAll('\r', '')
  const closed = once(child, 'close') as Promise<[number | null]>

  /** Waits for words that were not waited for before. The guide and the breaks of lines do not count. */
  async function says(words: string): Promise<void> {
    const deadline = Date.now() + 40_000
    for (let read = -1; ; await wait(20)) {
      // The screen is drawn many times a second, and most of it was read before.
      if (raw.length !== read) {
        const at = output()
          .replace(/\s*\n[│└\s]*/g, ' ')
          .indexOf(words, seen)
        if (at >= 0) {
          seen = at + words.length
          return
        }
      }
      read = raw.length
      if (Date.now() > deadline || child.exitCode !== null) throw new Error(`The set-up did not say "${words}":\n${output().slice(-3_000)}`)
    }
  }

  return {
    output,
    raw: () => raw,
    says,
    type: (text: string) => void child.stdin.write(text),
    /** Waits for a question, and answers it. */
    async answer(question: string, text: string): Promise<void> {
      await says(question)
      // The library takes keys once it has drawn the question.
      await wait(50)
      child.stdin.write(text)
    },
    /** For keys that belong to the same question. */
    async later(text: string): Promise<void> {
      await wait(300)
      child.stdin.write(text)
    },
    ended: async () => (await closed)[0],
  }
}

/** Runs the set-up without a terminal. */
export async function runSetup({ args = [], directory = folder, env }: SetupOptions = {}) {
  const child = endsWithUs(
    spawn(process.execPath, [program, ...args], { cwd: directory, env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] }),
  )
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output: stripVTControlCharacters(output) }
}

/** What `--check` finds wrong with these values. */
export async function wrongNow(values: Record<string, string>): Promise<string> {
  const found = await checkAll(values)
  return found.flatMap(({ is, what, text }) => (is === 'wrong' ? `${what}: ${text}` : [])).join('\n')
}
