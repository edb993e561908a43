import { Redis, type RedisOptions } from 'ioredis'
import { StoreUnavailableError } from '../domain/errors.ts'
import type { Secret } from '../domain/secret.ts'

const shared = {
  connectTimeout: 5_000,
  keepAlive: 10_000,
  retryStrategy: (attempt: number) => Math.min(2 ** (attempt - 1) * 50, 3_000) + Math.random() * 200,
  // 2: reconnect and send again. A demoted primary keeps its connections open and would refuse writes for ever.
  reconnectOnError: (error: Error) => (/^(READONLY|UNBLOCKED|MASTERDOWN)/.test(error.message) ? 2 : false),
} satisfies RedisOptions

/** For jobs: waits for Redis as long as it takes. A socket that is silent for 15 s is given up (a blocking read answers within 10 s). */
const patient = { ...shared, maxRetriesPerRequest: null, socketTimeout: 15_000 } satisfies RedisOptions

/** For people, who get an answer within 3 s: fails at once while Redis is away. */
const prompt = {
  ...shared,
  maxRetriesPerRequest: 1,
  commandTimeout: 1_000,

  enableOfflineQueue: false,
} satisfies RedisOptions

export type Patience = 'patient' | 'prompt'

/** Opens one connection. `onError` hears of connection troubles (ioredis repeats them at every attempt); it never gets command arguments. */
export function connectRedis(url: Secret, patience: Patience, onError: (problem: string) => void): Redis {
  const redis = new Redis(url.reveal(), patience === 'patient' ? patient : prompt)
  // A refusal of Redis' own begins with a word of its own (WRONGPASS, NOAUTH); the rest of it may quote what was sent.
  redis.on('error', (error: Error & { code?: string }) => onError(error.code ?? /^[A-Z]+/.exec(error.message)?.[0] ?? error.name))
  return redis
}

/** Closes politely where Redis answers, and at once where it does not. */
export async function closeRedis(redis: Redis): Promise<void> {
  if (redis.status === 'ready')
    await Promise.race([redis.quit().catch(() => undefined), new Promise((resolve) => setTimeout(resolve, 1_000))])
  redis.disconnect()
}

/**
 * Runs one command. What goes wrong with the connection becomes a StoreUnavailableError without ioredis' own properties, which
 * carry the command's arguments (and once even the password).
 */
export async function guardStore<T>(command: () => Promise<T>): Promise<T> {
  try {
    return await command()
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error('unknown')
    throw new StoreUnavailableError(`Redis: ${name} ${message.slice(0, 120)}`)
  }
}
