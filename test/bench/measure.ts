import { type ChildProcess, execFile, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { cpus, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { systemEnvironment } from '../sandbox/programs.ts'
import { findRedisServer, type Redis as StartedRedis, startRedis } from '../sandbox/redis/start-redis.ts'
import { endsWithUs } from '../sandbox/watchdog.ts'

/** How much is measured for a figure. The quick form only shows that the benchmarks run; its figures mean little. */
export interface Effort {
  quick: boolean
  rounds: number
}

export const full: Effort = { quick: false, rounds: 7 }
export const quick: Effort = { quick: true, rounds: 1 }

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const at = (index: number) => sorted[index] ?? Number.NaN
  return Number.isInteger(middle) ? (at(middle - 1) + at(middle)) / 2 : at(Math.floor(middle))
}

/**
 * Measures all variants in each round, one after the other. Each round starts with another variant, so that other work on the machine
 * affects all of them. Returns the figures of each variant by round.
 */
export async function interleave<Name extends string, Figures>(
  names: readonly Name[],
  rounds: number,
  measure: (name: Name, round: number) => Promise<Figures>,
): Promise<Record<Name, Figures[]>> {
  const found = Object.fromEntries(names.map((name) => [name, [] as Figures[]])) as Record<Name, Figures[]>
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < names.length; turn += 1) {
      const name = names[(turn + round) % names.length]
      if (name !== undefined) found[name].push(await measure(name, round))
    }
  }
  return found
}

/** Returns the median over the rounds of a variant's figure divided by that of the base in the same round. */
export function ratio<Figures>(of: Figures[], base: Figures[], figure: (figures: Figures) => number): number {
  return median(of.map((figures, round) => figure(figures) / figure(base[round] ?? figures)))
}

export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, index) => (index === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n')
}

export function fixed(value: number, digits = 2): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '–'
}

/** Renders the last two cells of a row with a target. */
export function judged(value: number, most: number | undefined): [target: string, verdict: string] {
  return most === undefined ? ['', ''] : [`≤ ${most}`, value <= most ? 'met' : 'missed']
}

export async function describeMachine(): Promise<string> {
  const [first, ...others] = cpus()
  const { stdout } = await promisify(execFile)(await findRedisServer(), ['--version'])
  const os = /^PRETTY_NAME="?([^"\n]*)/m.exec(await readFile('/etc/os-release', 'utf8').catch(() => ''))?.[1]
  return [
    `${others.length + 1} × ${first?.model.trim() ?? 'unknown CPU'}`,
    `${Math.round(totalmem() / 2 ** 30)} GB`,
    `${os ?? type()} (${type()} ${release()})`,
    `Node ${process.versions.node}`,
    `Redis ${/v=([\d.]+)/.exec(stdout)?.[1] ?? 'unknown'}, append-only`,
    'everything on loopback',
  ].join(', ')
}

export const signingSecret = 'bench-bench-bench'

export function botEnvironment({ outsideUrl, redisUrl, prefix }: { outsideUrl: string; redisUrl: string; prefix: string }) {
  return {
    SLACK_BOT_TOKEN: 'xoxb-bench',
    SLACK_SIGNING_SECRET: signingSecret,
    SLACK_API_URL: `${outsideUrl}/api/`,
    INFRA_API_URL: outsideUrl,
    INFRA_API_KEY: 'bench-key-of-nobody',
    REDIS_URL: redisUrl,
    REDIS_PREFIX: prefix,
    APPROVERS: 'U0BEN00001',
    PORT: '0',
    OPS_PORT: '0',
  }
}

interface ProgramOptions {
  args?: string[]
  nodeOptions?: string[]
  /** The whole environment, except what a system needs. */
  env?: Record<string, string>
}

/** Runs a program with Node until it is stopped, or this process ends. Resolves with the first line of its output that contains `ready`. */
export async function startProgram(file: string, ready: string, { args = [], nodeOptions = [], env = {} }: ProgramOptions = {}) {
  const startedAt = performance.now()
  const child = endsWithUs(
    spawn(process.execPath, [...nodeOptions, file, ...args], {
      env: { ...systemEnvironment(), ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  )
  const { pid = 0 } = child
  const stop = () => void child.kill('SIGKILL')
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.includes(ready)) continue
    child.stdout.resume()
    return { pid, line, readyMs: performance.now() - startedAt, stop }
  }
  throw new Error(`${child.spawnargs.join(' ')} ended`)
}

/** Returns the file of a program of the benchmarks. */
export const programOf = (name: string) => join(import.meta.dirname, `${name}.ts`)

export const forkClient = (...args: string[]) => fork(programOf('clients'), args, { execArgv: [] })

export async function withRedis<T>(run: (redis: StartedRedis) => Promise<T>): Promise<T> {
  // The Redis process does not keep this process alive.
  const alive = setInterval(() => {}, 1_000)
  const redis = await startRedis({ appendonly: true })
  try {
    return await run(redis)
  } finally {
    await redis.stop()
    clearInterval(alive)
  }
}

export async function exchange<Answer>(child: ChildProcess, message: object): Promise<Answer> {
  const ended = new AbortController()
  const onExit = () => ended.abort()
  child.once('exit', onExit)
  try {
    const answer = once(child, 'message', { signal: ended.signal })
    child.send(message)
    return (await answer)[0] as Answer
  } catch (error) {
    throw ended.signal.aborted ? new Error(`${child.spawnargs.join(' ')} ended`) : error
  } finally {
    child.off('exit', onExit)
  }
}

/** Returns the CPU time of the threads of a process so far. `/proc/<pid>/stat` counts in hundredths of a second, which are too long for a round. */
export function cpuSeconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`).map((id) => readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8'))
  return threads.reduce((sum, text) => sum + Number(text.split(' ')[0]) / 1e9, 0)
}

export function residentMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
}
