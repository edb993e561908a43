import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { systemEnvironment } from './programs.ts'

let pipe: Socket | undefined

/**
 * The watchdog ends child processes and removes folders when this process ends, even by SIGKILL. It is a separate process, which waits until
 * a pipe closes that only this process holds.
 */
function tellWatchdog(line: string): void {
  pipe ??= startWatchdog()
  pipe.write(`${line}\n`)
}

function startWatchdog(): Socket {
  // It ends after the cache is removed, and must not write to it.
  const { NODE_COMPILE_CACHE: _, ...env } = systemEnvironment()
  const watchdog = spawn(process.execPath, [fileURLToPath(new URL('./watchdog-process.ts', import.meta.url))], {
    env,
    stdio: ['pipe', 'ignore', 'ignore'],
    // Its own process group keeps Ctrl+C in a terminal away, so that this process controls the end.
    detached: true,
  })
  // The watchdog waits for this process, and this process does not wait for the watchdog.
  watchdog.unref()
  const input = watchdog.stdin as Socket
  input.unref()
  // The watchdog may have ended already if this process ends everything at once.
  return input.on('error', () => {})
}

/** Has a child process end with this one, however this one ends. */
export function endsWithUs<Child extends ChildProcess>(child: Child): Child {
  const { pid } = child
  if (pid === undefined) return child
  tellWatchdog(`+${pid}`)
  child.once('exit', () => tellWatchdog(`-${pid}`))
  return child
}

/** Makes a folder that is removed when this process ends. `remove` removes it earlier. */
export async function temporaryFolder(name: string) {
  const folder = await mkdtemp(join(tmpdir(), `lockkeeper-${name}-`))
  tellWatchdog(`+${folder}`)
  const remove = async () => {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    tellWatchdog(`-${folder}`)
  }
  return { folder, remove }
}

export function isRunning(child: ChildProcess | undefined): boolean {
  return child?.pid !== undefined && child.exitCode === null && child.signalCode === null
}

/** Resolves when it has ended. */
export async function endChild(child: ChildProcess | undefined, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (!child || !isRunning(child)) return
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}

/** Resolves when a child process answers at this address. Rejects if it ends before, or does not answer in time. */
export async function untilReady(child: ChildProcess, url: string, patienceMs = 60_000): Promise<void> {
  const deadline = Date.now() + patienceMs
  while (!(await fetch(url).catch(() => undefined))?.ok) {
    if (!isRunning(child)) throw new Error(`It ended with ${child.exitCode ?? child.signalCode}.`)
    if (Date.now() > deadline) throw new Error(`It was not ready after ${patienceMs / 1000} s.`)
    await delay(50)
  }
}
