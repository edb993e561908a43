import type { Redis } from 'ioredis'
import { AwayError, StartError } from '../domain/errors.ts'
import { withinOr } from '../domain/within.ts'
import { guardStore } from './connect.ts'

/** How long one attempt waits for an answer. */
const defaultAttemptMs = 2_000

/** Errors that waiting does not fix: the user, the password or the rights of the user are wrong. */
const refusal = /\b(WRONGPASS|NOAUTH|NOPERM)\b/

interface CheckParts {
  /** The patient connection, which reconnects and sends commands again by itself. */
  redis: Redis
  allowVolatile: boolean
  /** Returns the latest problem of the connection as a code: `ECONNREFUSED`. */
  problem: () => string | undefined
  warn: (fault: string) => void
  attemptMs?: number
}

/** Creates the check whether this Redis keeps requests safe. */
export function createRedisCheck({ redis, allowVolatile, problem, warn, attemptMs = defaultAttemptMs }: CheckParts) {
  let running: Promise<string> | undefined

  /** Runs the check once. Throws AwayError while Redis does not answer, and StartError if Redis rejects the user or could lose requests. */
  return async function check(): Promise<void> {
    const text = await withinOr(attemptMs, readInfo(), undefined).catch((error: Error) => {
      throw problemError(refusal.exec(error.message)?.[1] ?? problem())
    })
    if (text === undefined) throw problemError(problem())
    // While Redis loads its data, it answers INFO but rejects most other commands.
    if (parseInfo(text).get('loading') === '1') throw problemError('LOADING')
    const faults = findRedisFaults(text)
    if (faults.length > 0 && !allowVolatile) {
      throw new StartError(`${faults.join(' ')} For development only, set ALLOW_VOLATILE_REDIS=true to start anyway.`)
    }
    for (const fault of faults) warn(fault)
  }

  /** Shares one INFO command between attempts, because a patient connection queues each command until Redis answers. */
  function readInfo(): Promise<string> {
    running ??= guardStore(() => redis.info()).finally(() => {
      running = undefined
    })
    return running
  }
}

function problemError(problem = 'no answer'): Error {
  if (refusal.test(problem)) {
    return new StartError(`Redis rejects the user or the password in REDIS_URL (${problem}). Correct them and restart.`)
  }
  return new AwayError(
    `Redis isn't responding at REDIS_URL (${problem}). Check that it runs, that the address is correct, and that this machine can reach it.`,
  )
}

/**
 * Finds the settings with which Redis could lose requests, in the answer to INFO. Returns a sentence for each, with what to do. A Redis
 * that evicts keys, or does not write to disk, silently loses approvals and moves in progress. A setting that INFO does not show is no
 * fault.
 */
export function findRedisFaults(infoText: string): string[] {
  const info = parseInfo(infoText)
  const faults: string[] = []
  const version = info.get('redis_version')
  if (Number(version?.split('.')[0] ?? 0) < 7) faults.push(`Redis has version ${version ?? 'unknown'}. Update it to 7 or newer.`)
  const policy = info.get('maxmemory_policy')
  if (policy !== undefined && policy !== 'noeviction') {
    faults.push(`Redis evicts keys when its memory is full (maxmemory-policy ${policy}). Set it to noeviction.`)
  }
  if (info.get('aof_enabled') === '0') faults.push("Redis doesn't write changes to disk (appendonly no). Set appendonly yes.")
  return faults
}

function parseInfo(text: string): Map<string, string> {
  const lines = text.split(/\r?\n/).filter((line) => line.includes(':'))
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]))
}
