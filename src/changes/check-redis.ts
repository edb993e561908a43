import type { Redis } from 'ioredis'
import { StartError } from '../domain/errors.ts'
import { guardStore } from './redis.ts'

/** How long the first contact may take. */
const contactMs = 10_000

interface CheckParts {
  redis: Redis
  allowVolatile: boolean
  /** What the connection has met with, as a code. */
  problem: () => string | undefined
  warn: (fault: string) => void
}

/** Throws StartError when Redis does not answer, or is one that would lose requests. */
export async function checkRedis({ redis, allowVolatile, problem, warn }: CheckParts): Promise<void> {
  const faults = await findFaultsInTime(redis)
  if (faults === undefined) {
    throw new StartError(
      `Redis does not answer at REDIS_URL (${problem() ?? 'no answer'}). Check that it runs, that the address and the password are right, and that this machine may reach it.`,
    )
  }
  if (faults.length > 0 && !allowVolatile) {
    throw new StartError(`${faults.join(' ')} To start all the same, in development only, set ALLOW_VOLATILE_REDIS=true.`)
  }
  for (const fault of faults) warn(fault)
}

async function findFaultsInTime(redis: Redis): Promise<string[] | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), contactMs)
  })
  const info = guardStore(() => redis.info()).catch(() => undefined)
  try {
    const text = await Promise.race([info, late])
    return text === undefined ? undefined : findRedisFaults(text)
  } finally {
    clearTimeout(timer)
  }
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
