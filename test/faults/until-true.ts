import { setTimeout as delay } from 'node:timers/promises'

/** Waits until something is true. `expect.poll` does not work in tests that run side by side: it can take another one for its own. */
export async function untilTrue(what: string, isTrue: () => Promise<boolean> | boolean, timeoutMs = 60_000): Promise<void> {
  for (const end = Date.now() + timeoutMs; Date.now() < end; await delay(50)) if (await isTrue()) return
  throw new Error(`Waited ${timeoutMs} ms in vain until ${what}.`)
}
