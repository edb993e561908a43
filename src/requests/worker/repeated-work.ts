import { randomUUID } from 'node:crypto'
import { inLane } from '../../domain/account/lane.ts'
import { claim } from '../../redis/claims.ts'
import type { Redis } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'

/** How often each process checks whether work is due. The first check comes after this time, so that it does not slow down the start. */
const usualCheckMs = 15_000

const longestMs = 60_000

/** Work that one process at a time repeats. */
export interface Work {
  /** Unique in Lockkeeper. */
  name: string
  everyMs: number
  run(signal: AbortSignal): Promise<void>
}

interface RepeatedWorkParts {
  redis: Redis
  keys: Keys
  works: Work[]
  onError: (error: unknown) => void
  checkMs?: number
}

/**
 * Creates the repetition of work. All processes together do each piece once per interval. If it fails, it is tried again when it is due
 * again.
 */
export function createRepeatedWork({ redis, keys, works, onError, checkMs = usualCheckMs }: RepeatedWorkParts) {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<unknown> | undefined
  const stopping = new AbortController()

  async function runIfDue({ name, everyMs, run }: Work): Promise<void> {
    const taken = await claim(redis, keys.repeated(name), { token: randomUUID(), lastsMs: everyMs })
    if (taken === undefined && !stopping.signal.aborted)
      await inLane('background', () => run(AbortSignal.any([stopping.signal, AbortSignal.timeout(longestMs)])))
  }

  function check(): void {
    running ??= Promise.all(works.map((work) => runIfDue(work).catch((error) => !stopping.signal.aborted && onError(error)))).finally(
      () => {
        running = undefined
      },
    )
  }

  async function start(): Promise<void> {
    if (works.length === 0) return
    timer = setInterval(check, checkMs)
    timer.unref()
  }

  /** Interrupts running work, because nothing depends on its end. */
  async function stop(): Promise<void> {
    clearInterval(timer)
    stopping.abort()
    await running
  }

  return { start, stop }
}
