import { type ChainableCommander, Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis'
import { isCertificateError, StartError, StoreUnavailableError } from '../domain/errors.ts'
import { parseRedisAddress } from '../domain/redis-address.ts'
import type { Secret } from '../domain/signing.ts'
import { settleWithin, withinOr } from '../domain/within.ts'

export type { Redis }

const retryStrategy = (attempt: number) => Math.min(2 ** (attempt - 1) * 50, 3_000) + Math.random() * 200

const shared = {
  connectTimeout: 5_000,
  keepAlive: 10_000,
  retryStrategy,
  // Return 2 to reconnect and send the command again. A demoted primary keeps its connections open and would reject writes forever.
  reconnectOnError: (error: Error) => (/^(READONLY|UNBLOCKED|MASTERDOWN)/.test(error.message) ? 2 : false),
} satisfies RedisOptions

/** For jobs: waits until Redis answers again. Closes a socket that is silent for 15 s; a blocking read answers within 10 s. */
const patient = { ...shared, maxRetriesPerRequest: null, socketTimeout: 15_000 } satisfies RedisOptions

/** For requests of people, who must be answered within 3 s: fails at once while Redis does not answer. */
const prompt = {
  ...shared,
  maxRetriesPerRequest: 1,
  commandTimeout: 1_000,
  enableOfflineQueue: false,
  // BullMQ sends INFO once per connection, and its queues fail forever if that one command fails. The start checks the version instead.
  skipVersionCheck: true,
} satisfies RedisOptions & { skipVersionCheck: boolean }

export type Patience = 'patient' | 'prompt'

/** How often the prompt connection is pinged. This finds a half-open connection before a person has to wait for it. */
const pingIntervalMs = 2_000

/** Opens one connection. `onError` gets the code of each connection problem, at every attempt, and never the arguments of a command. */
export function connectRedis(url: Secret, patience: Patience, onError: (problem: string) => void, sentinelPassword?: Secret): Redis {
  const redis = open(url.reveal(), patience === 'patient' ? patient : prompt, sentinelPassword)
  tellProblems(redis, onError)
  if (patience === 'prompt') {
    if (redis.isCluster) redis.on('+node', writeTogether)
    else writeTogether(redis)
    pingRegularly(redis)
  }
  return redis
}

/** A load balancer whose Redis is away takes connections and closes them, which is no error for ioredis. */
function tellProblems(redis: Redis, onError: (problem: string) => void): void {
  let isExplained = false
  redis.on('ready', () => {
    isExplained = true
  })
  redis.on('error', (error) => {
    isExplained = true
    onError(problemOf(error))
  })
  redis.on('close', () => {
    if (!isExplained) onError('closed')
    isExplained = false
  })
}

/** Node's (ECONNREFUSED), or the first word of Redis' (WRONGPASS): the rest may quote what was sent. Cluster and Sentinel wrap it. */
function problemOf({ code, message, lastNodeError }: Error & { code?: string; lastNodeError?: Error }): string {
  const serverMessage = lastNodeError?.message ?? /Last error: (.*)/s.exec(message)?.[1] ?? message
  const word = code ?? /^[A-Z]{2,}/.exec(serverMessage)?.[0] ?? 'no answer'
  // They have a password of their own.
  return /^All sentinels/.test(message) && /^(NOAUTH|WRONGPASS)$/.test(word) ? `${word} ${bySentinels}` : word
}

export const bySentinels = 'by the Sentinels'

/** The commands of one turn of the event loop leave in one write. A write for each takes a fifth of the CPU time of an acknowledgement. */
function writeTogether(redis: Redis): void {
  const send = redis.sendCommand.bind(redis)
  redis.sendCommand = (command, stream) => {
    // Undefined before the first connection.
    const socket: Redis['stream'] | undefined = redis.stream
    if (socket?.writableCorked === 0) {
      socket.cork()
      setImmediate(() => socket.uncork())
    }
    return send(command, stream)
  }
}

/** A Redis that has not been checked could lose requests. `refusal`: the code with which it refused the last check, such as `OOM`. */
export function holdCommands(redis: Redis, refusal: () => string | undefined = () => undefined): () => void {
  const send = redis.sendCommand.bind(redis)
  redis.sendCommand = (command, stream) => {
    // Before a connection is ready, ioredis sends the commands that make it ready.
    if (redis.status !== 'ready' || ['ping', 'quit'].includes(command.name)) return send(command, stream)
    command.reject(new StoreUnavailableError('Redis has not been checked yet', refusal()))
    return command.promise
  }
  return () => {
    redis.sendCommand = send
  }
}

function open(url: string, options: typeof patient | typeof prompt, sentinelPassword?: Secret): Redis {
  const address = parseRedisAddress(url)
  if (!address || address.kind === 'single') return new Redis(url, options)
  const { username, password, tls } = address
  const access: RedisOptions = { ...(username ? { username } : {}), ...(password ? { password } : {}), ...(tls ? { tls: {} } : {}) }
  if (address.kind === 'sentinel') {
    const { sentinels, primary, database } = address
    const own = sentinelPassword && { sentinelPassword: sentinelPassword.reveal() }
    const sentinelOptions = { sentinels, name: primary, db: database, sentinelRetryStrategy: retryStrategy, ...own }
    // TLS to the primary and to the Sentinels.
    const sentinelTls = tls ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {}
    return new Redis(Object.assign({}, options, access, sentinelOptions, sentinelTls) as RedisOptions & { replyMapping: 'legacy' })
  }
  const clusterOptions: ClusterOptions = {
    redisOptions: { ...options, ...access },
    clusterRetryStrategy: retryStrategy,
    enableOfflineQueue: options.maxRetriesPerRequest === null,
    slotsRefreshTimeout: 3_000,
    // `connect()` never settles if the first check fails, as it does during a failover, and BullMQ waits for it. Commands are tried again anyway.
    enableReadyCheck: false,
    // Otherwise ioredis connects to the IP addresses of the names, and certificates are for names.
    ...(tls ? { dnsLookup: (host: string, connect: (error: null, host: string) => void) => connect(null, host) } : {}),
  }
  const cluster = new Cluster(address.nodes, clusterOptions as object)
  // The cast is safe because all keys share one hash tag: every command that works on one server also works on a Cluster.
  return cluster as unknown as Redis
}

/** Reopens the connection when a ping times out: on a half-open one, packets vanish without an error. */
function pingRegularly(redis: Redis): void {
  const timer = setInterval(() => {
    if (redis.status === 'end') return clearInterval(timer)
    if (redis.status !== 'ready') return
    redis.ping().catch((error: Error) => {
      if (/timed out/i.test(error.message) && redis.status === 'ready') redis.disconnect(true)
    })
  }, pingIntervalMs)
  timer.unref()
}

export async function closeRedis(redis: Redis): Promise<void> {
  if (redis.status === 'ready') await settleWithin(1_000, [redis.quit()])
  redis.disconnect()
}

/** Replaces an error of ioredis, because its properties carry the arguments of the command (for AUTH, the password). */
export async function guardStore<T>(command: () => Promise<T>): Promise<T> {
  try {
    return await command()
  } catch (error) {
    if (error instanceof StoreUnavailableError) throw error
    const { name, message } = error instanceof Error ? error : new Error('unknown')
    // An error from Redis itself begins with a code in capitals. The rest of the message may quote what was sent.
    const code = name === 'ReplyError' ? /^[A-Z]{2,20}\b/.exec(message)?.[0] : undefined
    throw new StoreUnavailableError(`Redis: ${name} ${message.slice(0, 120)}`, code)
  }
}

/**
 * The answers of a pipeline, whose `exec` never rejects. Undefined for a key of another type. Every other error fails the whole read. Throws
 * StoreUnavailableError.
 */
export function readAnswers(pipeline: Pick<ChainableCommander, 'exec'>): Promise<unknown[]> {
  const read = ([error, answer]: [Error | null, unknown]) => {
    if (error && !error.message.startsWith('WRONGTYPE')) throw error
    return error ? undefined : answer
  }
  return guardStore(async () => ((await pipeline.exec()) ?? []).map(read))
}

const answerMs = 5_000

/** For a program that an operator runs: gives a connection to `use`, and ends it. Throws StartError if Redis does not answer. */
export async function withRedis<T>(
  { url, sentinelPassword }: { url: Secret; sentinelPassword?: Secret | undefined },
  use: (redis: Redis) => Promise<T>,
): Promise<T> {
  let problem: string | undefined
  const note = (code: string) => {
    problem = code
  }
  const redis = connectRedis(url, 'patient', note, sentinelPassword)
  try {
    if (
      (await withinOr(
        answerMs,
        guardStore(() => redis.ping()),
        undefined,
      )) === undefined
    )
      throw new StoreUnavailableError('Redis: no answer')
    return await use(redis)
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error
    throw new StartError(unreachableRedis(problem ?? error.code ?? 'no answer'))
  } finally {
    redis.disconnect()
  }
}

/** Says why Redis can't be reached, and what to check. `problem` is the code of a connection problem. */
export function unreachableRedis(problem: string): string {
  if (isCertificateError(problem)) {
    return `Lockkeeper doesn't trust the TLS certificate of Redis (${problem}). Check the hostname in REDIS_URL and the clock of this machine. For your own certificate authority, set NODE_EXTRA_CA_CERTS in the environment of the process: Node doesn't read it from .env.`
  }
  return `Redis isn't responding at REDIS_URL (${problem}). Check that it runs, that the address and password are correct, and that this machine can reach it.`
}
