import { type StartRedisOptions, startRedis } from './start-redis.ts'

export interface FoundRedis {
  url: string
  /** Whether `REDIS_URL` named it, or it was started here. */
  from: 'REDIS_URL' | 'started'
  /** Stops it if it was started here. */
  stop(): Promise<void>
}

/** Returns the Redis of `REDIS_URL`, or starts one. */
export async function findRedis(options: StartRedisOptions = {}, environment: NodeJS.ProcessEnv = process.env): Promise<FoundRedis> {
  const given = environment.REDIS_URL
  if (given) return { url: given, from: 'REDIS_URL', stop: async () => {} }
  const redis = await startRedis(options)
  return { url: redis.url, from: 'started', stop: redis.stop }
}
