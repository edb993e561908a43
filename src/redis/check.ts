import { Cluster, type Redis as RedisFromIoredis } from 'ioredis'
import type { App } from '../app.ts'
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
import { withinOr } from '../domain/within.ts'
import { guardStore, type Redis, unreachableRedis } from './connect.ts'
import type { Keys } from './key-names.ts'

/**
 * Asks Redis for a write. Returns why Redis refuses writes, and undefined if it takes them. INFO is not enough: it leaves out whether a failed
 * save stops writes, and a Cluster has several answers. No key has the name of the probe, and `XX` sets only a key that exists, so nothing is
 * ever written. Throws StoreUnavailableError if Redis does not answer, or refuses for another reason.
 */
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
  /** The patient connection, which reconnects and sends commands again by itself. */
  redis: RedisFromIoredis
  probe: () => Promise<WriteRefusal | undefined>
  allowVolatile: boolean
  prefix: string
  /** Returns the latest problem of the connection as a code: `ECONNREFUSED`. */
  problem: () => string | undefined
  warn: (fault: string) => void
  attemptMs?: number
}

/**
 * Creates the check whether this Redis keeps requests safe. It throws AwayError while Redis does not answer or refuses writes, and StartError if
 * Redis rejects the user or could lose requests.
 */
export function createRedisCheck({ redis, probe, allowVolatile, prefix, problem, warn, attemptMs = 2_000 }: CheckParts) {
  /** Attempts share one read, because a patient connection queues each command until Redis answers. */
  let running: ReturnType<typeof read> | undefined

  async function read() {
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

/** Returns the error with which the start waits or ends after a command has failed. `problem`: the latest one of the connection. */
export function startProblem(error: unknown, { problem, prefix }: { problem?: string | undefined; prefix: string }): Error {
  const message = error instanceof Error ? error.message : ''
  const code = error instanceof StoreUnavailableError && error.code ? error.code : rejection.exec(message)?.[1]
  if (code === 'NOPERM') {
    const { why, fix } = missingRightIn(message, prefix)
    return new StartError(`${why} ${fix} Then restart.`)
  }
  const refusal = writeRefusalOf(code)
  return refusal ? new WritesRefused(refusal) : problemError(code ?? problem)
}

function problemError(problem = 'no answer'): Error {
  if (rejection.test(problem)) {
    return new StartError(`Redis rejects the user or the password in REDIS_URL (${problem}). Correct them and restart.`)
  }
  return new AwayError(unreachableRedis(problem))
}

/**
 * Reads the answers to INFO: one, or that of each primary of a Cluster, because the settings of one say nothing about the others. Throws if
 * Redis does not answer. A single primary that does not answer is left out, because a replica replaces it.
 */
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

/**
 * Finds the settings with which Redis could lose requests, in the answers to INFO. A Redis that evicts keys, or does not write to disk,
 * silently loses approvals and moves in progress. A setting that INFO does not show is no fault.
 */
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
  | { is: 'silent' }

/** Reads whether Redis keeps requests safe, takes writes, and runs scripts, as every step needs. Throws every other error. */
export async function readRedisHealth({ connections, store, config }: App): Promise<RedisHealth> {
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
    if (error.code === undefined) return { is: 'silent' }
    throw error
  }
}
