import { type StartRedisOptions, startRedis } from './start-redis.ts'

export interface FoundRedis {
  url: string
  /** Whether it is ours, or one that was there. */
  from: 'REDIS_URL' | 'started'
  /** Ends it when it is ours. */
  stop(): Promise<void>
}

/** The Redis of `REDIS_URL`, or one of our own. */
export async function findRedis(options: StartRedisOptions = {}, environment: NodeJS.ProcessEnv = process.env): Promise<FoundRedis> {
  const given = environment.REDIS_URL
  if (given) return { url: given, from: 'REDIS_URL', stop: async () => {} }
  const redis = await startRedis(options)
  return { url: redis.url, from: 'started', stop: redis.stop }
}
