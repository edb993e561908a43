import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { botProgram } from '../sandbox/bot-process.ts'
import { systemEnvironment } from '../sandbox/programs.ts'
import { endChild, endsWithUs, temporaryFolder } from '../sandbox/watchdog.ts'

const program = botProgram('setup')

export const keys = { enter: '\r', ctrlC: '\x03', tab: '\t', escape: '\x1b', up: '\x1b[A', down: '\x1b[B', ctrlD: '\x04', ctrlZ: '\x1a' }

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

interface SetupOptions {
  folder: string
  env?: Record<string, string>
  args?: string[]
  /** Runs it as a job of an interactive shell, below a process that waits for it, as npm does. */
  inShell?: boolean
}

const environment = ({ folder, env }: SetupOptions) => ({ ...systemEnvironment(), HOME: folder, TERM: 'xterm-256color', ...env })

/** Runs the set-up in a pseudo-terminal of 80 columns, which `script` of util-linux and of macOS opens. */
export function openTerminal({ args = [], inShell = false, ...options }: SetupOptions) {
  const setup = [process.execPath, program, ...args].map(quoted).join(' ')
  const command = `stty cols 80 rows 40; exec ${inShell ? 'bash --norc -i' : setup}`
  const ofScript = process.platform === 'darwin' ? ['-q', '/dev/null', 'sh', '-c', command] : ['-qefc', command, '/dev/null']
  const child = endsWithUs(spawn('script', ofScript, { cwd: options.folder, env: environment(options), stdio: ['pipe', 'pipe', 'pipe'] }))
  if (inShell) child.stdin.write(`sh -c ${quoted(`${setup}; exit $?`)}\r`)
  let raw = ''
  let seen = 0
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (raw += chunk))
  const output = () => stripVTControlCharacters(raw).replaceAll('\r', '')
  const closed = once(child, 'close') as Promise<[number | null]>

  /** Waits for words that were not waited for before. The guide and the breaks of lines do not count. */
  async function says(words: string): Promise<void> {
    const deadline = Date.now() + 40_000
    for (;;) {
      const text = output().replace(/\s*\n[│└\s]*/g, ' ')
      const at = text.indexOf(words, seen)
      if (at >= 0) {
        seen = at + words.length
        return
      }
      if (Date.now() > deadline || child.exitCode !== null) throw new Error(`The set-up did not say "${words}":\n${output().slice(-3_000)}`)
      await wait(20)
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
    close: () => endChild(child, 'SIGKILL'),
  }
}

/** Runs the set-up without a terminal. */
export async function runSetup({ args = [], ...options }: SetupOptions) {
  const child = endsWithUs(
    spawn(process.execPath, [program, ...args], { cwd: options.folder, env: environment(options), stdio: ['ignore', 'pipe', 'pipe'] }),
  )
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output: stripVTControlCharacters(output) }
}

export const newFolder = () => temporaryFolder('setup')
