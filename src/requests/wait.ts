import type { App } from '../app.ts'
import { parseFields } from '../audit/find.ts'
import { StoreUnavailableError } from '../domain/errors.ts'
import { unlessAborted } from '../domain/within.ts'
import { connectRedis, guardStore, type Redis } from '../redis/connect.ts'

/** Shorter than the silence after which a connection counts as broken. */
const blockMs = 10_000

interface Waiter {
  wake(): void
  fail(error: Error): void
}

interface Reading {
  connection: Redis
  /** Settles once it is known from which entry on the steps are read. */
  begun: Promise<void>
}

/**
 * Waits for steps of requests that any process takes. Each step adds an entry to the audit, so one blocking read of that stream wakes everybody.
 * The connection is open only while somebody waits.
 */
export function createStepWaits({ config, redis, keys }: Pick<App, 'config' | 'redis' | 'keys'>) {
  const waiting = new Map<string, Set<Waiter>>()
  let reading: Reading | undefined

  /** Reads until the result is enough or the signal aborts, and returns the last result. Throws StoreUnavailableError as soon as Redis is away. */
  async function until<T>(requestId: string, read: () => Promise<T>, isEnough: (read: T) => boolean, signal: AbortSignal): Promise<T> {
    let next = Promise.withResolvers<void>()
    const own = { wake: () => next.resolve(), fail: (error: Error) => next.reject(error) }
    waiting.set(requestId, (waiting.get(requestId) ?? new Set()).add(own))
    try {
      for (;;) {
        next = Promise.withResolvers<void>()
        // A rejection is thrown where it is awaited. Until then it must not count as unhandled.
        next.promise.catch(() => {})
        // Before the read, so that no step is missed after it.
        reading ??= beginReading()
        await reading.begun
        const result = await read()
        if (isEnough(result) || signal.aborted) return result
        await unlessAborted(signal, next.promise).catch((error: unknown) => {
          if (!signal.aborted) throw error
        })
      }
    } finally {
      waiting.get(requestId)?.delete(own)
      if (waiting.get(requestId)?.size === 0) waiting.delete(requestId)
      if (waiting.size === 0) stop()
    }
  }

  function beginReading(): Reading {
    const connection = connectRedis(config.redis.url, 'patient', (problem) => fail(connection, problem), config.redis.sentinelPassword)
    const begun = guardStore(() => redis.xrevrange(keys.audit, '+', '-', 'COUNT', 1)).then(
      ([newest]) => void readSteps(connection, newest?.[0] ?? '0-0').catch((error: Error) => fail(connection, error.message)),
    )
    begun.catch((error: Error) => fail(connection, error.message))
    return { connection, begun }
  }

  async function readSteps(connection: Redis, from: string): Promise<void> {
    let last = from
    while (reading?.connection === connection) {
      const streams = await connection.xread('COUNT', 100, 'BLOCK', blockMs, 'STREAMS', keys.audit, last)
      for (const [id, [, text = '']] of streams?.[0]?.[1] ?? []) {
        last = id
        for (const waiter of waiting.get(String(parseFields(text)?.requestId)) ?? []) waiter.wake()
      }
    }
  }

  /** Everybody who waits gets the error now. The next one to wait connects again. */
  function fail(connection: Redis, problem: string): void {
    connection.disconnect()
    if (reading?.connection !== connection) return
    reading = undefined
    const error = new StoreUnavailableError(`Redis: ${problem}`)
    for (const waiter of [...waiting.values()].flatMap((all) => [...all])) waiter.fail(error)
  }

  function stop(): void {
    reading?.connection.disconnect()
    reading = undefined
  }

  return { until }
}
export type StepWaits = ReturnType<typeof createStepWaits>
