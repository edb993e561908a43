import { randomUUID } from 'node:crypto'
import { claim } from '../../redis/claims.ts'
import type { Redis } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { createScripts } from '../../redis/scripts.ts'

/** Longer than it can take to find a secret and to delete it. */
const claimMs = 60_000

/**
 * Creates the claims on the retraction of the secret that a request has issued. One process at a time looks for the secret and makes it
 * worthless: a second one would not find the secret, and report it as never issued. Throws StoreUnavailableError if Redis does not answer.
 */
export function createRetractionClaims({ redis, keys }: { redis: Redis; keys: Keys }) {
  const run = createScripts(redis)

  /** Returns a token for `endRetraction`, or undefined while another process holds the claim. The claim of a dead process ends after 60 s. */
  async function claimRetraction(id: string): Promise<string | undefined> {
    const token = randomUUID()
    const holder = await claim(redis, keys.retraction(id), { token, lastsMs: claimMs })
    return holder === undefined ? token : undefined
  }

  /** Ends the claim with this token. Does nothing if it ran out and another process holds the claim. */
  async function endRetraction(id: string, token: string): Promise<void> {
    await run('release', [keys.retraction(id)], [token])
  }

  return { claimRetraction, endRetraction }
}
