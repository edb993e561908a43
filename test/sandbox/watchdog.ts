import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { systemEnvironment } from './programs.ts'

const program = fileURLToPath(new URL('./watchdog-process.ts', import.meta.url))

/**
 * Ends child processes and removes their folder when this process ends, even by SIGKILL. A separate process waits until a pipe closes that
 * only this process holds.
 */
export function startWatchdog({ folder }: { folder?: string } = {}) {
  const watchdog = spawn(process.execPath, [program, ...(folder ? [folder] : [])], {
    env: systemEnvironment(),
    stdio: ['pipe', 'ignore', 'ignore'],
    // Its own process group keeps Ctrl+C in a terminal away, so that this process controls the end.
    detached: true,
  })
  // The watchdog waits for this process, and this process does not wait for the watchdog.
  watchdog.unref()
  ;(watchdog.stdin as Socket).unref()
  const ended = once(watchdog, 'exit')
  // The watchdog may have ended already if this process ends everything at once.
  watchdog.stdin.on('error', () => {})

  return {
    guard: (pid: number) => void watchdog.stdin.write(`+${pid}\n`),
    release: (pid: number) => void watchdog.stdin.write(`-${pid}\n`),

    async end(): Promise<void> {
      watchdog.ref()
      watchdog.stdin.end()
      await ended
    },
  }
}

let ofAll: ReturnType<typeof startWatchdog> | undefined

/** Has a child process end with this one, however this one ends. */
export function endsWithUs<Child extends ChildProcess>(child: Child): Child {
  const { pid } = child
  if (pid === undefined) return child
  ofAll ??= startWatchdog()
  const watchdog = ofAll
  watchdog.guard(pid)
  child.once('exit', () => watchdog.release(pid))
  return child
}
