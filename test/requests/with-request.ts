import { createOutbox } from '../../src/requests/outbox/outbox.ts'
import { createStore, type NewRequest } from '../../src/requests/store/store.ts'
import { connectTestRedis, noAudit } from './redis-for-test.ts'
import { recordRequest } from './request-for-test.ts'

/** One recorded request, with the store and the outbox over a real Redis. */
export async function withRequest(more: Partial<NewRequest> = {}) {
  const { redis, keys } = connectTestRedis()
  const store = createStore({ redis, keys, audit: noAudit })
  const outbox = createOutbox({ redis, keys })
  return { redis, keys, store, outbox, request: await recordRequest(store, more) }
}
