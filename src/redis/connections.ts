import { once } from 'node:events'
import { Cluster, type Redis as RedisFromIoredis } from 'ioredis'
import type { Config } from '../config/config.ts'
import {
  AwayError,
  isMissingRight,
  type MissingRight,
  missingRightIn,
  refusesWrites,
  StartError,
  StoreUnavailableError,
  type WriteRefusal,
  writeRefusalOf,
} from '../domain/errors.ts'
import { settleWithin, withinOr } from '../domain/within.ts'
import type { Log, RepeatedLines } from '../ops/log.ts'
import { bySentinels, closeRedis, connectRedis, guardStore, holdCommands, type Redis, unreachableRedis } from './connect.ts'
import { createKeys, type Keys } from './key-names.ts'

/** `prompt`, for people, fails within a second. `patient`, for jobs, waits until Redis is back. */
export function createRedisConnections(
  { redis: { url, sentinelPassword, prefix, allowVolatile } }: Config,
  { log, lines }: { log: Pick<Log, 'warn'>; lines: RepeatedLines },
) {
  const code = 'redis-not-responding'
  /** The latest problem of the connections, as a code. */
  let latest: string | undefined
  /** Nothing is logged until the check has passed, because each failed attempt to start writes its own log line. */
  let isLogged = false

  function note(problem: string): void {
    latest = problem
    if (!isLogged) return
    lines.write({ fields: { code, problem }, text: "Redis isn't responding. The connection is tried again" })
  }

  /** Once both connections work, the latest problem explains no later one. */
  function endIfReady(): void {
    if (!connections.every(({ status }) => status === 'ready')) return
    latest = undefined
    lines.end(code, 'Redis responds again')
  }

  const prompt = connectRedis(url, 'prompt', note, sentinelPassword)
  const patient = connectRedis(url, 'patient', note, sentinelPassword)
  const connections = [prompt, patient]
  for (const each of connections) each.on('ready', endIfReady)
  /** Why Redis refused writes in the last check of the start. */
  let refusal: WriteRefusal | undefined
  const releaseCommands = holdCommands(prompt, () => refusal?.code)
  const keys = createKeys(prefix)
  // Over the patient connection, because the prompt one is held until the start has checked Redis, which waits while Redis refuses writes.
  const probe = () => probeWrites(patient, keys)
  const check = createRedisCheck({
    redis: patient,
    probe,
    allowVolatile,
    prefix,
    problem: () => latest,
    warn: (fault) => log.warn({ code: 'redis-unsafe' }, fault),
  })

  async function reach(): Promise<void> {
    await check().catch((error: unknown) => {
      refusal = error instanceof WritesRefused ? error.refusal : undefined
      throw error
    })
    isLogged = true
    releaseCommands()
    // It refuses commands until it is ready, which can be a moment after the other one.
    if (prompt.status !== 'ready') await settleWithin(2_000, [once(prompt, 'ready')])
  }

  async function faults(): Promise<RedisFault[]> {
    return findRedisFaults(await guardStore(() => readInfos(prompt)))
  }

  /** With ALLOW_VOLATILE_REDIS operators accepted the settings. Nobody can accept that Redis refuses writes. Throws StoreUnavailableError. */
  async function faultsToReport(): Promise<RedisFault[]> {
    const settings = allowVolatile ? [] : await faults()
    const refusal = await probe()
    return refusal ? [...settings, refusalFault(refusal)] : settings
  }

  async function close(): Promise<void> {
    isLogged = false
    await Promise.allSettled([closeRedis(prompt), closeRedis(patient)])
  }

  return {
    keys,
    prompt,
    patient,
    reach,
    faults,
    faultsToReport,
    probeWrites: probe,
    startProblem: (error: unknown) => startProblem(error, { problem: latest, prefix }),
    problem: () => latest,
    close,
  }
}
export type RedisConnections = ReturnType<typeof createRedisConnections>

/** INFO does not say whether a failed save stops writes. `XX` sets only a key that exists, and none has this name. */
export async function probeWrites(redis: Redis, keys: Keys): Promise<WriteRefusal | undefined> {
  try {
    await guardStore(() => redis.set(keys.writeProbe, '', 'XX'))
    return undefined
  } catch (error) {
    const refusal = error instanceof StoreUnavailableError ? writeRefusalOf(error.code) : undefined
    if (refusal) return refusal
    throw error
  }
}

/** Errors that waiting does not fix: the user, the password or the rights of the user are wrong. */
const rejection = /\b(WRONGPASS|NOAUTH|NOPERM)\b/

interface CheckParts {
  redis: RedisFromIoredis
  probe: () => Promise<WriteRefusal | undefined>
  allowVolatile: boolean
  prefix: string
  problem: () => string | undefined
  warn: (fault: string) => void
  attemptMs?: number
}

/** Throws AwayError while Redis does not answer or refuses writes, and StartError if it rejects the user or could lose requests. */
export function createRedisCheck({ redis, probe, allowVolatile, prefix, problem, warn, attemptMs = 2_000 }: CheckParts) {
  /** Attempts share one read, because a patient connection queues each command until Redis answers. */
  let running: ReturnType<typeof read> | undefined

  async function read() {
    const { db } = redis.options
    // If the database doesn't exist, ioredis works in database 0.
    if (db) await guardStore(() => redis.select(db))
    return { faults: findRedisFaults(await guardStore(() => readInfos(redis))), refusal: await probe() }
  }

  return async function check(): Promise<void> {
    running ??= read().finally(() => {
      running = undefined
    })
    const answer = await withinOr(attemptMs, running, undefined).catch((error: unknown) => {
      throw startProblem(error, { problem: problem(), prefix })
    })
    if (!answer) throw problemError(problem())
    const faults = answer.faults.map(({ words }) => words)
    if (faults.length > 0 && !allowVolatile) {
      throw new StartError(`${faults.join(' ')} For development only, set ALLOW_VOLATILE_REDIS=true to start anyway.`)
    }
    if (answer.refusal) throw new WritesRefused(answer.refusal)
    for (const fault of faults) warn(fault)
  }
}

export class WritesRefused extends AwayError {
  readonly refusal: WriteRefusal

  constructor(refusal: WriteRefusal) {
    super(refusalFault(refusal).words)
    this.refusal = refusal
  }
}

/** `problem`: the latest one of the connection. */
export function startProblem(error: unknown, { problem, prefix }: { problem?: string | undefined; prefix: string }): Error {
  const message = error instanceof Error ? error.message : ''
  const code = error instanceof StoreUnavailableError && error.code ? error.code : rejection.exec(message)?.[1]
  if (code === 'NOPERM') {
    const { why, fix } = missingRightIn(message, prefix)
    return new StartError(`${why} ${fix} Then restart.`)
  }
  if (/DB index/.test(message))
    return new StartError("REDIS_URL ends with the number of a database that Redis doesn't have. Remove the number.")
  const refusal = writeRefusalOf(code)
  return refusal ? new WritesRefused(refusal) : problemError(code ?? problem)
}

function problemError(problem = 'no answer'): Error {
  if (problem.endsWith(bySentinels)) {
    const [code] = problem.split(' ')
    return new StartError(
      `The Sentinels in REDIS_URL reject Lockkeeper (${code}). Set REDIS_SENTINEL_PASSWORD to their own password and restart.`,
    )
  }
  if (rejection.test(problem)) {
    return new StartError(`Redis rejects the user or the password in REDIS_URL (${problem}). Correct them and restart.`)
  }
  return new AwayError(unreachableRedis(problem))
}

/** One, or that of each primary of a Cluster but those that do not answer, which a replica replaces. */
export async function readInfos(redis: RedisFromIoredis | Cluster): Promise<string[]> {
  const first = await redis.info()
  if (!(redis instanceof Cluster)) return [first]
  const answers = await Promise.allSettled(redis.nodes('master').map((node) => node.info()))
  return [first, ...answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))]
}

/** A setting with which Redis could lose requests, or that it stores nothing. `words`: a sentence with what is wrong, and one with what to do. */
export interface RedisFault {
  code: 'old-version' | 'evicts' | 'not-on-disk' | 'refuses-writes'
  words: string
}

/** A Redis that evicts keys, or does not write to disk, silently loses requests. A setting that INFO does not show is no fault. */
export function findRedisFaults(infos: string[]): RedisFault[] {
  const byCode = new Map(infos.flatMap(faultsOf).map((fault) => [fault.code, fault]))
  return [...byCode.values()]
}

export function refusalFault(refusal: WriteRefusal): RedisFault {
  return { code: 'refuses-writes', words: `${refusesWrites(refusal)} ${refusal.fix}` }
}

function faultsOf(text: string): RedisFault[] {
  const info = parseInfo(text)
  const faults: RedisFault[] = []
  const version = info.get('redis_version') ?? 'unknown'
  if (!(Number(version.split('.')[0]) >= 7))
    faults.push({ code: 'old-version', words: `Redis has version ${version}. Update it to 7 or newer.` })
  const policy = info.get('maxmemory_policy') ?? 'noeviction'
  if (policy !== 'noeviction') {
    faults.push({ code: 'evicts', words: `Redis evicts keys when its memory is full (maxmemory-policy ${policy}). Set it to noeviction.` })
  }
  if (info.get('aof_enabled') === '0') {
    faults.push({ code: 'not-on-disk', words: "Redis doesn't write changes to disk (appendonly no). Set appendonly yes." })
  }
  return faults
}

/** In bytes, of the server that uses most. `max`: 0 without a limit (redis.conf, "maxmemory"), or if the server does not show it. */
export async function readRedisMemory({ connections }: { connections: RedisConnections }): Promise<{ used: number; max: number }> {
  const infos = await guardStore(() => readInfos(connections.prompt))
  const servers = infos.map(parseInfo).map((info) => ({ used: Number(info.get('used_memory')), max: Number(info.get('maxmemory') ?? 0) }))
  return servers.reduce((most, each) => (each.used > most.used ? each : most))
}

/** A clock that is off by this much is reported, long before requests from Slack are refused, at five minutes. */
export const clockWrongMs = 30_000

/** Of Redis, in ms since 1970. */
interface Clock {
  now: () => Promise<number>
}

interface Checked {
  connections: RedisConnections
  store: Clock
  config: Pick<Config, 'redis'>
}

/** How far this process' clock is ahead of that of Redis, negative if behind. What the duration of the call can explain does not count. */
export async function clockAheadOfRedisMs({ store }: { store: Clock }): Promise<number> {
  const sentAt = Date.now()
  const at = await store.now()
  return Math.min(0, Date.now() - at) || Math.max(0, sentAt - at)
}

function parseInfo(text: string): Map<string, string> {
  const lines = text.split(/\r?\n/).filter((line) => line.includes(':'))
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]))
}

export type RedisHealth =
  | { is: 'safe' }
  | { is: 'unsafe'; faults: RedisFault[] }
  | { is: 'refuses-writes'; refusal: WriteRefusal; faults: RedisFault[] }
  /** Its user may not do everything that Lockkeeper does. */
  | { is: 'lacks-right'; right: MissingRight }
  | { is: 'silent'; problem?: string | undefined }

/** Every step needs to write and to run scripts. Throws other errors. */
export async function readRedisHealth({ connections, store, config }: Checked): Promise<RedisHealth> {
  try {
    const faults = await connections.faults()
    const refusal = await connections.probeWrites()
    await store.now()
    if (refusal) return { is: 'refuses-writes', refusal, faults }
    return faults.length > 0 ? { is: 'unsafe', faults } : { is: 'safe' }
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error
    if (isMissingRight(error)) return { is: 'lacks-right', right: missingRightIn(error.message, config.redis.prefix) }
    const refusal = writeRefusalOf(error.code)
    if (refusal) return { is: 'refuses-writes', refusal, faults: [] }
    if (error.code === undefined) return { is: 'silent', problem: connections.problem() }
    throw error
  }
}
