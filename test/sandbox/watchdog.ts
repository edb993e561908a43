import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('./watchdog-process.ts', import.meta.url))

/**
 * Ends child processes and removes their folder when this process ends, even by SIGKILL: a small process of its own waits for a
 * pipe to close that only this one holds.
 */
export function startWatchdog({ folder }: { folder?: string } = {}) {
  const watchdog = spawn(process.execPath, [program, ...(folder ? [folder] : [])], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Of a group of its own, so that Ctrl+C in a terminal reaches this process alone and the ending stays in its hands.
    detached: true,
  })
  // It waits for this process, and never the other way round.
  watchdog.unref()
  ;(watchdog.stdin as Socket).unref()
  const ended = once(watchdog, 'exit')
  // It may be gone already when this process ends everything at once.
  watchdog.stdin.on('error', () => {})

  return {
    guard: (pid: number) => void watchdog.stdin.write(`+${pid}\n`),
    release: (pid: number) => void watchdog.stdin.write(`-${pid}\n`),

    /** What is guarded still is ended now, and the folder is removed. */
    async end(): Promise<void> {
      watchdog.ref()
      watchdog.stdin.end()
      await ended
    },
  }
}

export type Watchdog = ReturnType<typeof startWatchdog>
