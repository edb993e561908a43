import type { Redis } from 'ioredis'
import type { Request } from '../../src/domain/request.ts'
import type { RequestSignatures } from '../../src/domain/request-signature.ts'
import type { Keys } from '../../src/redis/key-names.ts'
import { encodeFields } from '../../src/requests/store.ts'

interface ShiftTimesParts {
  redis: Redis
  keys: Keys
  signatures: RequestSignatures
}

/** Creates a function that shifts the times of a request in Redis, as if this much time had passed since it was requested. */
export function createShiftTimes({ redis, keys, signatures }: ShiftTimesParts) {
  return async function shiftTimes(request: Request, ms: number): Promise<void> {
    const { id } = request
    const createdAt = request.createdAt - ms
    const signature = signatures.signRequest({ ...request, createdAt })
    await redis.hset(keys.record(id), encodeFields({ createdAt, expiresAt: request.expiresAt - ms, signature }))
    if ((await redis.zscore(keys.due, id)) !== null) await redis.zincrby(keys.due, -ms, id)
  }
}
