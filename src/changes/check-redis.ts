import type { Redis } from 'ioredis'
import { guardStore } from './redis.ts'

/**
 * What is wrong with a Redis that has to keep requests, each a sentence with what to do; empty when nothing is. A Redis that evicts
 * or keeps nothing on disk loses approvals and moves in flight without a word.
 */
export async function findRedisFaults(redis: Redis): Promise<string[]> {
  const info = parseInfo(await guardStore(() => redis.info()))
  const faults: string[] = []
  const [major = 0] = (info.get('redis_version') ?? '').split('.').map(Number)
  if (major < 7) faults.push(`Redis is version ${info.get('redis_version') ?? 'unknown'}, and 7 or newer is needed: update it.`)
  const policy = info.get('maxmemory_policy')
  if (policy !== undefined && policy !== 'noeviction') {
    faults.push(`Redis evicts keys when its memory is full (maxmemory-policy ${policy}): set it to noeviction.`)
  }
  if (info.get('aof_enabled') === '0') faults.push('Redis keeps nothing on disk at once (appendonly no): set appendonly yes.')
  return faults
}

function parseInfo(text: string): Map<string, string> {
  const pairs = text
    .split(/\r?\n/)
    .filter((line) => line.includes(':'))
    .map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1)]
    })
  return new Map(pairs)
}
