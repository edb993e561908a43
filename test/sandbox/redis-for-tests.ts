import type { TestProject } from 'vitest/node'
import { findRedis } from './redis/start-redis.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** One Redis for all test files. Each uses its own key prefix. */
    redisUrl: string
  }
}

/** The global set-up of Vitest. Without a Redis the run fails. Nothing is skipped. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const redis = await findRedis({ appendonly: true })
  provide('redisUrl', redis.url)
  return redis.stop
}
