import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { systemEnvironment } from '../sandbox/programs.ts'
import { endsWithUs } from '../sandbox/watchdog.ts'
import type { CommandBlock } from './command-blocks.ts'

const root = join(import.meta.dirname, '../..')

/** How long a process may take until it prints what it is expected to print. */
const patienceMs = 180_000

/** Copies what a clone would have, with the changes that are not committed yet, and runs commands in it. */
export function cleanCopy(variables: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'lockkeeper-docs-'))
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  const files = listed.split('\0').filter((file) => file !== '' && existsSync(join(root, file)))
  for (const file of files) cpSync(join(root, file), join(folder, file))
  const left: ChildProcess[] = []

  function start(commands: string) {
    // Its own process group, so that everything that it starts can be ended together.
    const child = endsWithUs(
      spawn('bash', ['-euo', 'pipefail', '-c', commands], {
        cwd: folder,
        env: environment(variables),
        // From a socket, as a pipe of Node is, bash would read the files of a login first.
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      }),
    )
    left.push(child)
    let output = ''
    const expected: (() => void)[] = []
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data) => {
        output += data
        for (const check of expected) check()
      })
    }
    const printed = (text: string) =>
      new Promise<void>((resolve) => {
        const check = () => output.includes(text) && resolve()
        expected.push(check)
        check()
      })
    return { closed: once(child, 'close') as Promise<[number | null]>, printed, output: () => output }
  }

  return {
    folder,

    /** Runs a block as it is written. Returns what it printed. One that does not end by itself keeps running until `close`. */
    async run({ commands, runsUntil }: Pick<CommandBlock, 'commands' | 'runsUntil'>): Promise<string> {
      const { closed, printed, output } = start(commands)
      const ended = closed.then(([code]) => `ended with ${code}`)
      const late = new Promise<string>((resolve) => setTimeout(() => resolve('did not end or print in time'), patienceMs).unref())
      const how = await Promise.race([ended, late, ...(runsUntil === undefined ? [] : [printed(runsUntil).then(() => 'as written')])])
      if (how === (runsUntil === undefined ? 'ended with 0' : 'as written')) return output()
      throw new Error(`${commands}${how}:\n${output()}`)
    },

    async close(): Promise<void> {
      await Promise.all(left.map(end))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, 'close')
  process.kill(-child.pid, 'SIGTERM')
  await closed
}

/** The variables of a person's shell: the system's, the home folder with npm's settings and cache, and this Node. */
function environment(variables: Record<string, string>): Record<string, string> {
  const { PATH = '', ...system } = systemEnvironment()
  const { HOME = '' } = process.env
  return { ...system, HOME, PATH: `${dirname(process.execPath)}:${PATH}`, ...variables }
}
