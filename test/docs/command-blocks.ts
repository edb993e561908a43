import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { copyOfRepository, root } from '../given/copy-of-repository.ts'
import { systemEnvironment } from '../sandbox/programs.ts'
import { endsWithUs } from '../sandbox/watchdog.ts'

/** README, and every page in docs but the decisions, which have no commands to follow. */
export const pages = ['README.md', ...readdirSync(join(root, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : []))]

/** A block of commands on a page. */
export interface CommandBlock {
  page: string
  /** The heading of the second level above it. */
  section: string
  line: number
  commands: string
  /** Why a test cannot run it. */
  notRun: string | undefined
  /** The commands do not end by themselves. They have worked when they print this. */
  runsUntil: string | undefined
  /** What the page says below the block: ``It prints `…` ``. */
  prints: string | undefined
}

const marked = (mark: string, text: string) => new RegExp(`<!-- ${mark}: (.+) -->`).exec(text)?.[1]

/** Finds the blocks of shell commands on a page. A comment above a block says if it does not run, or until when. */
export function commandBlocks(page: string, text = readFileSync(join(root, page), 'utf8')): CommandBlock[] {
  const forPage = marked('not run on this page', text)
  const blocks = [...text.matchAll(/^( *)(<!--.*-->\n *)?```sh\n([\s\S]*?)^ *```\n(?=\n?(.*)$)/gm)]
  return blocks.map(({ index, 1: indent = '', 2: comment = '', 3: commands = '', 4: below = '' }) => {
    const above = text.slice(0, index)
    return {
      page,
      section: [...above.matchAll(/^## (.*)$/gm)].at(-1)?.[1] ?? '',
      line: above.split('\n').length,
      commands: commands.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      notRun: marked('not run', comment) ?? forPage,
      runsUntil: marked('runs until', comment),
      prints: /^ *It prints `([^`]+)`/.exec(below)?.[1],
    }
  })
}

/** How long a process may take until it prints what it is expected to print. npm may download for minutes. */
const patienceMs = 420_000

/** Copies what a clone would have, with the changes that are not committed yet, and runs commands in it. */
export function cleanCopy(variables: Record<string, string>) {
  const folder = copyOfRepository('lockkeeper-docs-')
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

/**
 * Finds the commands of Docker Compose in blocks and in code spans, in their order. A command that pages repeat is found once. Those of a backup
 * stop Redis, and have a test of their own.
 */
export function composeCommands(): string[] {
  const ofStart = ['docs/install.md', ...pages].filter((page) => page !== 'docs/backup.md')
  const texts = ofStart.map((page) => readFileSync(join(root, page), 'utf8'))
  const found = texts.flatMap((text) => [...text.matchAll(/`(docker compose [^`]+)`|^ *(docker compose .+)$/gm)])
  return [...new Set(found.map(([, inText, inBlock]) => inText ?? inBlock ?? ''))]
}

/** What a command prints that works, and that does not end or whose result matters. */
export const composePrints: Record<string, string> = {
  'docker compose logs --follow bot': '"Lockkeeper is ready"',
}
