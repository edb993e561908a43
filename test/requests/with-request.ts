import { createOutbox } from '../../src/outbox/outbox.ts'
import { createStore, type NewRequest } from '../../src/requests/store.ts'
import { noteOf } from './audit-for-test.ts'
import { connectTestRedis, noAudit } from './redis-for-test.ts'
import { recordRequest } from './request-for-test.ts'

/** Records one request over a real Redis, and returns it with the store and the outbox. */
export async function withRequest(more: Partial<NewRequest> = {}) {
  const { redis, keys } = connectTestRedis()
  const store = createStore({ redis, keys, audit: noAudit, noteOf })
  const outbox = createOutbox({ redis, keys })
  return { redis, keys, store, outbox, request: await recordRequest(store, more) }
}
