import { setTimeout as delay } from 'node:timers/promises'

const everyMs = 1_000

/** Reads once a second until the result is enough or the signal aborts, and returns the last result. Throws what `read` throws. */
export async function readUntil<T>(read: () => Promise<T>, isEnough: (read: T) => boolean, signal: AbortSignal): Promise<T> {
  for (;;) {
    const result = await read()
    if (isEnough(result) || signal.aborted) return result
    await delay(everyMs, undefined, { signal }).catch(() => {})
  }
}
