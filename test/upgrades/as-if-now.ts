import type { Redis } from 'ioredis'
import type { Request } from '../../src/domain/request.ts'
import type { RequestSignatures } from '../../src/domain/request-signature.ts'
import type { Keys } from '../../src/redis/key-names.ts'
import { encodeFields, type Store } from '../../src/requests/store.ts'

const times = new Set([
  'createdAt',
  'expiresAt',
  'decidedAt',
  'unreadAt',
  'sentAt',
  'acceptedAt',
  'lateAt',
  'endedAt',
  'trackedUntil',
  'at',
  'since',
  'until',
])

interface AsIfNowParts {
  redis: Redis
  keys: Keys
  store: Pick<Store, 'find'>
  signatures: RequestSignatures
}

/**
 * Moves the times of stored requests by `ms`, as if they had been written just now, and signs them again. Has every request message posted
 * anew, because the Slack of a test is new.
 */
export async function asIfNow({ redis, keys, store, signatures }: AsIfNowParts, ids: string[], ms: number): Promise<void> {
  for (const set of [keys.open, keys.ended, keys.outbox]) {
    for (const member of await redis.zrange(set, '0', '-1')) await redis.zincrby(set, ms, member)
  }
  // Everything is due at once, so that no test waits for the next try.
  for (const id of await redis.zrange(keys.due, '0', '-1')) await redis.zadd(keys.due, 0, id)
  for (const id of ids) {
    const request = await store.find(id)
    if (!request) throw new Error(`there is no request ${id}`)
    await redis.hset(keys.record(id), encodeFields(signedAgain(later(request, ms), signatures)))
    await redis.hdel(keys.record(id), 'cardTs', 'cardRevision', 'outbox:card')
    await redis.zadd(keys.outbox, 0, `${id}/card`)
  }
}

/** Moves the times of a record, of its approvals and of its decision. */
export function later<T extends object>(record: T, ms: number): T {
  const moved = Object.entries(record).map(([name, value]: [string, unknown]) => {
    if (times.has(name)) return [name, typeof value === 'number' ? value + ms : value]
    if (name === 'approvals') return [name, (value as object[] | undefined)?.map((each) => later(each, ms))]
    return [name, (name === 'decision' || name === 'unanswered') && value ? later(value, ms) : value]
  })
  return Object.fromEntries(moved)
}

export function signedAgain(request: Request, signatures: RequestSignatures): Request {
  const approvals = request.approvals.map(({ signature, ...approval }) => signatures.signApproval(request, approval))
  const signed = { ...request, approvals, signature: signatures.signRequest(request) }
  if (!request.decision?.signature) return signed
  const { signature, ...decision } = request.decision
  return { ...signed, decision: signatures[decision.breakGlass ? 'signBreakGlass' : 'signApproved'](signed, decision) }
}
