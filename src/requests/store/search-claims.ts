import { randomUUID } from 'node:crypto'
import { claim } from '../../redis/claims.ts'
import type { Redis } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { createScripts } from '../../redis/scripts.ts'

/** Longer than a search and a deletion can take. */
const searchMs = 60_000

/**
 * Creates the claims on the search for the secret that a request has issued. One process at a time searches and makes it worthless: a second
 * one would not find the secret, and report it as never issued. Throws StoreUnavailableError if Redis does not answer.
 */
export function createSearchClaims({ redis, keys }: { redis: Redis; keys: Keys }) {
  const run = createScripts(redis)

  /** Returns a token for `endSearch`, or undefined while another process searches. The claim of a dead process ends after 60 s. */
  async function claimSearch(id: string): Promise<string | undefined> {
    const token = randomUUID()
    const holder = await claim(redis, keys.search(id), { token, lastsMs: searchMs })
    return holder === undefined ? token : undefined
  }

  /** Ends the claim with this token. Does nothing if it ran out and another process holds the claim. */
  async function endSearch(id: string, token: string): Promise<void> {
    await run('release', [keys.search(id)], [token])
  }

  return { claimSearch, endSearch }
}
