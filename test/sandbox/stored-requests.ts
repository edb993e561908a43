import { Redis } from 'ioredis'
import { isOpen, type Request } from '../../src/domain/request.ts'
import { createKeys } from '../../src/redis/key-names.ts'
import { createStore } from '../../src/requests/store.ts'
import { auditWriting, noteOf } from '../requests/audit-for-test.ts'
import { signaturesOfBot } from '../requests/signatures-for-test.ts'
import { createShiftTimes } from './shift-times.ts'

interface BotVariables {
  REDIS_URL: string
  REDIS_PREFIX: string
  INFRA_API_KEY: string
  STATE_KEY?: string
}

/** Reads and changes the requests that a bot with these variables keeps in Redis. */
export function openStoredRequests(variables: BotVariables) {
  const redis = new Redis(variables.REDIS_URL, { maxRetriesPerRequest: null })
  const keys = createKeys(variables.REDIS_PREFIX)
  const store = createStore({ redis, keys, audit: auditWriting(() => ''), noteOf })

  return {
    /** Returns the open requests, the newest first. */
    async open(): Promise<Request[]> {
      const names = await redis.keys(`${keys.recordPrefix}*`)
      const all = await store.findMany(names.map((name) => name.slice(keys.recordPrefix.length)))
      return all.filter(({ state }) => isOpen(state)).sort((a, b) => b.createdAt - a.createdAt)
    },

    shiftTimes: createShiftTimes({ redis, keys, signatures: signaturesOfBot(variables) }),
    close: () => redis.disconnect(),
  }
}
export type StoredRequests = ReturnType<typeof openStoredRequests>
