import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis'
import { StoreUnavailableError } from '../domain/errors.ts'
import { parseRedisAddress } from '../domain/redis-address.ts'
import type { Secret } from '../domain/secret.ts'

const retryStrategy = (attempt: number) => Math.min(2 ** (attempt - 1) * 50, 3_000) + Math.random() * 200

const shared = {
  connectTimeout: 5_000,
  keepAlive: 10_000,
  retryStrategy,
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
  // BullMQ would ask INFO once, and its queues on this connection would fail for ever if that failed. The start checks the version.
  skipVersionCheck: true,
} satisfies RedisOptions & { skipVersionCheck: boolean }

export type Patience = 'patient' | 'prompt'

/** How often the connection that people wait for is felt, so that one that is only half open is noticed before they are. */
const pulseMs = 2_000

/** Opens one connection. `onError` hears of connection troubles (ioredis repeats them at every attempt); it never gets command arguments. */
export function connectRedis(url: Secret, patience: Patience, onError: (problem: string) => void): Redis {
  const redis = open(url.reveal(), patience === 'patient' ? patient : prompt)
  redis.on('error', (error) => onError(problemOf(error)))
  if (patience === 'prompt') keepPulse(redis)
  return redis
}

/**
 * The code of what went wrong: Node's own (ECONNREFUSED), or the word that a refusal of Redis begins with (WRONGPASS). The rest of a message may
 * quote what was sent. Cluster and Sentinel wrap what their servers said.
 */
function problemOf({ code, message, lastNodeError }: Error & { code?: string; lastNodeError?: Error }): string {
  const said = lastNodeError?.message ?? /Last error: (.*)/s.exec(message)?.[1] ?? message
  return code ?? /^[A-Z]{2,}/.exec(said)?.[0] ?? 'no answer'
}

/** What neither reads nor writes data. */
const harmless = new Set(['ping', 'quit'])

/**
 * Refuses commands until the returned function is called, as if Redis did not answer: a Redis that has not been checked must not get requests
 * that it may lose.
 */
export function holdCommands(redis: Redis): () => void {
  const send = redis.sendCommand.bind(redis)
  redis.sendCommand = (command, stream) => {
    // Before it is ready, a connection sends what it needs to become so.
    if (redis.status !== 'ready' || harmless.has(command.name)) return send(command, stream)
    command.reject(new Error('Redis has not been checked yet'))
    return command.promise
  }
  return () => {
    redis.sendCommand = send
  }
}

function open(url: string, options: typeof patient | typeof prompt): Redis {
  const address = parseRedisAddress(url)
  if (!address || address.kind === 'single') return new Redis(url, options)
  const { username, password, tls } = address
  const access: RedisOptions = { ...(username ? { username } : {}), ...(password ? { password } : {}), ...(tls ? { tls: {} } : {}) }
  if (address.kind === 'sentinel') {
    const { sentinels, primary, database } = address
    const sentinelOptions = { sentinels, name: primary, db: database, sentinelRetryStrategy: retryStrategy, enableTLSForSentinelMode: tls }
    return new Redis(Object.assign({}, options, access, sentinelOptions) as RedisOptions & { replyMapping: 'legacy' })
  }
  const clusterOptions: ClusterOptions = {
    redisOptions: { ...options, ...access },
    clusterRetryStrategy: retryStrategy,
    enableOfflineQueue: options.maxRetriesPerRequest === null,
    slotsRefreshTimeout: 3_000,
  }
  const cluster = new Cluster(address.nodes, clusterOptions as object)
  // All keys share one hash tag, so that everything which is asked of one server here can be asked of a Cluster.
  return cluster as unknown as Redis
}

/**
 * Packets can vanish without a word, on a connection that looks open. One that does not answer is opened anew: commands that wait on it
 * have failed by then, and the next ones find a working one.
 */
function keepPulse(redis: Redis): void {
  const pulse = setInterval(() => {
    if (redis.status === 'end') return clearInterval(pulse)
    if (redis.status !== 'ready') return
    redis.ping().catch((error: Error) => {
      if (/timed out/i.test(error.message) && redis.status === 'ready') redis.disconnect(true)
    })
  }, pulseMs)
  pulse.unref()
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
