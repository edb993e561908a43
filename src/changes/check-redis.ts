import type { Redis } from 'ioredis'
import { AwayError, StartError } from '../domain/errors.ts'
import { guardStore } from './redis.ts'

/** How long one attempt may take. */
const usualAttemptMs = 2_000

/** Refusals that waiting does not change: the user, the password or the user's rights are wrong. */
const refusal = /\b(WRONGPASS|NOAUTH|NOPERM)\b/

interface CheckParts {
  /** The patient connection, which connects and asks again by itself. */
  redis: Redis
  allowVolatile: boolean
  /** What the connection has met with, as a code. */
  problem: () => string | undefined
  warn: (fault: string) => void
  attemptMs?: number
}

/** Checks once whether requests can be trusted to this Redis. */
export function createRedisCheck({ redis, allowVolatile, problem, warn, attemptMs = usualAttemptMs }: CheckParts) {
  let underway: Promise<string> | undefined

  /** Throws AwayError while Redis does not answer, and StartError where it rejects the user or would lose requests. */
  return async function check(): Promise<void> {
    const text = await inTime(ask(), attemptMs).catch((error: Error) => {
      throw problemError(refusal.exec(error.message)?.[1] ?? problem())
    })
    if (text === undefined) throw problemError(problem())
    // Redis answers INFO, and little else, while it loads its data.
    if (parseInfo(text).get('loading') === '1') throw problemError('LOADING')
    const faults = findRedisFaults(text)
    if (faults.length > 0 && !allowVolatile) {
      throw new StartError(`${faults.join(' ')} To start all the same, in development only, set ALLOW_VOLATILE_REDIS=true.`)
    }
    for (const fault of faults) warn(fault)
  }

  /** A patient connection keeps a question until Redis answers, so attempts share one. */
  function ask(): Promise<string> {
    underway ??= guardStore(() => redis.info()).finally(() => {
      underway = undefined
    })
    return underway
  }
}

/** Undefined when it takes longer. */
async function inTime<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

function problemError(problem = 'no answer'): Error {
  if (refusal.test(problem)) {
    return new StartError(`Redis rejects the user or the password in REDIS_URL (${problem}). Correct them, then start again.`)
  }
  return new AwayError(
    `Redis does not answer at REDIS_URL (${problem}). Check that it runs, that the address is right, and that this machine may reach it.`,
  )
}

/**
 * What is wrong with a Redis that has to keep requests, by its INFO: each a sentence with what to do; empty when nothing is. A Redis
 * that evicts, or keeps nothing on disk, loses approvals and moves in flight without a word. Pure.
 */
export function findRedisFaults(infoText: string): string[] {
  const info = parseInfo(infoText)
  const faults: string[] = []
  const version = info.get('redis_version')
  if (Number(version?.split('.')[0] ?? 0) < 7) faults.push(`Redis is version ${version ?? 'unknown'}, and 7 or newer is needed: update it.`)
  const policy = info.get('maxmemory_policy')
  if (policy !== undefined && policy !== 'noeviction') {
    faults.push(`Redis evicts keys when its memory is full (maxmemory-policy ${policy}): set it to noeviction.`)
  }
  if (info.get('aof_enabled') === '0') faults.push('Redis does not write what it is told to disk (appendonly no): set appendonly yes.')
  return faults
}

function parseInfo(text: string): Map<string, string> {
  const lines = text.split(/\r?\n/).filter((line) => line.includes(':'))
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]))
}
