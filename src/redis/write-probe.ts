import { StoreUnavailableError } from '../domain/errors/errors.ts'
import { type WriteRefusal, writeRefusalOf } from '../domain/errors/write-refusal.ts'
import { guardStore, type Redis } from './connect.ts'
import type { Keys } from './key-names.ts'

/**
 * Creates the probe that asks Redis for a write. It returns why Redis refuses writes, and undefined if it takes them. INFO is not enough:
 * it leaves out whether a failed save stops writes, and a Cluster has several answers. No key has the name of the probe, and `XX` sets only
 * a key that exists, so nothing is ever written. Throws StoreUnavailableError if Redis does not answer, or refuses for another reason.
 */
export function createWriteProbe(redis: Redis, keys: Keys) {
  return async function probeWrites(): Promise<WriteRefusal | undefined> {
    try {
      await guardStore(() => redis.set(keys.writeProbe, '', 'XX'))
      return undefined
    } catch (error) {
      const refusal = error instanceof StoreUnavailableError ? writeRefusalOf(error.code) : undefined
      if (refusal) return refusal
      throw error
    }
  }
}
export type ProbeWrites = ReturnType<typeof createWriteProbe>
