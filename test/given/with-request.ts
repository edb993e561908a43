import type { NewRequest } from '../../src/record/store.ts'
import { connectTestStore } from './redis.ts'
import { recordRequest } from './request.ts'

/** Records one request over a real Redis, and returns it with the store. */
export async function withRequest(more: Partial<NewRequest> = {}) {
  const { redis, keys, store } = connectTestStore()
  return { redis, keys, store, request: await recordRequest(store, more) }
}
