import type { Redis } from 'ioredis'
import { payloadHash } from '../../src/domain/request/payload.ts'
import { createKeys } from '../../src/redis/key-names.ts'
import type { NewRequest } from '../../src/requests/store/new-requests.ts'
import { createStore } from '../../src/requests/store/store.ts'
import { auditWriting, noteOf } from '../requests/audit-for-test.ts'
import { signaturesOfBot, signedBy } from '../requests/signatures-for-test.ts'
import { takeSteps } from '../requests/take-steps.ts'

/** Returns an unsigned request to move an address. The same number gives the same request. */
export function moveOf(index: number): NewRequest {
  const elasticIpId = `eip_${String(index).padStart(13, '0')}`
  const address = `10.${Math.floor(index / 62_500)}.${Math.floor(index / 250) % 250}.${(index % 250) + 1}`
  const requested = {
    id: String(index).padStart(32, '0'),
    kind: 'ip.move' as const,
    input: { elasticIpId, serverId: 'sv_toyuTZG5N1gWu' },
    facts: { elasticIpId, address, from: { id: 'sv_from0uV4VZYm1', name: 'web-1' }, to: { id: 'sv_toyuTZG5N1gWu', name: 'web-2' } },
    resource: `elastic_ip:${elasticIpId}`,
    unchecked: [],
    origin: { teamId: 'T1', channelId: 'C1', userId: 'U1', command: '/infra' },
  }
  return {
    ...requested,
    hash: payloadHash(requested),
    rule: 'APPROVERS',
    needsApproval: true,
    approvalsNeeded: 1,
    ttlMs: 3_600_000,
    createdAt: Date.now(),
    signature: '',
  }
}

/** Records this many requests that are approved, accepted and under way, as the bot with these variables would have recorded them. */
export async function recordMoves(redis: Redis, variables: Parameters<typeof signaturesOfBot>[0], count: number): Promise<void> {
  const keys = createKeys(variables.REDIS_PREFIX)
  const signatures = signaturesOfBot(variables)
  const store = createStore({ redis, keys, audit: auditWriting(() => '{"act":"bench"}'), noteOf })
  const one = async (index: number) => {
    const move = signedBy(signatures, moveOf(index))
    const { id } = move
    await store.create(move)
    await takeSteps(store, id, 'approve', 'send', ['accept', { dueInMs: 0 }])
    // As if the card of the request had been posted and were up to date.
    await redis.hset(
      keys.record(id),
      'cardTs',
      JSON.stringify(`1.${index}`),
      'cardRevision',
      '4',
      'outbox:card',
      JSON.stringify({ status: 'settled', token: 'bench' }),
    )
    await redis.zrem(keys.outbox, `${id}/card`)
  }
  for (let at = 0; at < count; at += 200)
    await Promise.all(Array.from({ length: Math.min(200, count - at) }, (_, index) => one(at + index)))
  await redis.del(keys.auditIntake)
}
