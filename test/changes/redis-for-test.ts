import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import { inject, onTestFinished } from 'vitest'
import { createKeys } from '../../src/changes/keys.ts'

/** A connection to the real Redis, with a prefix of its own, closed when the test ends. */
export function connectTestRedis() {
  const redis = new Redis(inject('redisUrl'), { maxRetriesPerRequest: null })
  const prefix = `test-${randomBytes(6).toString('hex')}`
  onTestFinished(() => redis.disconnect())
  return { redis, prefix, keys: createKeys(prefix) }
}

/** An audit that keeps nothing, for tests that are about something else. */
export const noAudit = { encode: () => '{"act":"test"}', kick: () => {} }
