import { createStore, type NewRequest } from '../../src/requests/store.ts'
import { trusting } from './audit-for-test.ts'
import { connectTestRedis, noAudit } from './redis-for-test.ts'
import { recordRequest } from './request-for-test.ts'

/** Records one request over a real Redis, and returns it with the store. */
export async function withRequest(more: Partial<NewRequest> = {}) {
  const { redis, keys } = connectTestRedis()
  const store = createStore({ redis, keys, audit: noAudit, signatures: trusting })
  return { redis, keys, store, request: await recordRequest(store, more) }
}
