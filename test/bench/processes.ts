import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'

export interface Program {
  pid: number
  /** The line that was waited for. */
  line: string
  /** From the start of the process to that line. */
  readyMs: number
  stop(): void
}

export interface ProgramOptions {
  args?: string[]
  nodeOptions?: string[]
  /** The whole environment, except `PATH`. */
  env?: Record<string, string>
}

/** How long a program may take until it is ready. */
const patienceMs = 30_000

/** Runs a program with Node until it is stopped. Resolves with the first line of its output that contains `ready`. */
export async function startProgram(file: string, ready: string, { args = [], nodeOptions = [], env = {} }: ProgramOptions = {}) {
  const startedAt = performance.now()
  const child = spawn(process.execPath, [...nodeOptions, file, ...args], {
    env: { ...env, PATH: process.env.PATH ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const stop = () => void child.kill('SIGKILL')
  process.once('exit', stop)
  child.once('exit', () => process.off('exit', stop))
  const line = await untilLine(child, ready).finally(() => child.stdout.resume())
  return { pid: child.pid ?? 0, line, readyMs: performance.now() - startedAt, stop } satisfies Program
}

function untilLine(child: ChildProcess, ready: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const fail = (why: string) => reject(new Error(`${child.spawnargs.join(' ')} ${why}\n${said}`))
  const timer = setTimeout(() => fail(`is not ready after ${patienceMs / 1_000} s`), patienceMs)
  let said = ''
  const read = (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-20_000)
    const line = said.split('\n').find((candidate, index, all) => index < all.length - 1 && candidate.includes(ready))
    if (line !== undefined) resolve(line)
  }
  const onExit = (code: number | null) => fail(`ended with ${code}`)
  child.stdout?.on('data', read)
  child.stderr?.on('data', read)
  child.once('exit', onExit)
  return promise.finally(() => {
    clearTimeout(timer)
    child.off('exit', onExit)
    child.stdout?.off('data', read)
  })
}

/** Sends a message to a forked program and resolves with its next one. Rejects if the program ends instead. */
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

/** Returns the CPU time of a process so far, with all its threads. Linux counts in hundredths of a second. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / 100
}

export function residentMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
}
