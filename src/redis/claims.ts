import { guardStore, type Redis } from './connect.ts'

interface ClaimOptions {
  /** Identifies the claim. Use a new token for each claim, so that a repeated command recognizes its own claim. */
  token: string
  lastsMs: number
}

/**
 * Claims a key for `lastsMs` (milliseconds). Returns undefined if the claim succeeded, and otherwise the value that the key holds. Throws
 * StoreUnavailableError if Redis does not answer. Uses `SET NX GET` instead of `SET NX`, because the client sends a command again when its
 * connection breaks: the second command then finds its own token and succeeds too.
 */
export async function claim(redis: Redis, key: string, { token, lastsMs }: ClaimOptions): Promise<string | undefined> {
  const holder = await guardStore(() => redis.set(key, token, 'PX', lastsMs, 'NX', 'GET'))
  return holder === null || holder === token ? undefined : holder
}
