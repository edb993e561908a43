import type { Keyring } from '../domain/signing/keyring.ts'
import { guardStore, type Redis } from './connect.ts'
import type { Keys } from './key-names.ts'

interface SigningKeyMarkParts {
  redis: Redis
  keys: Keys
  keyring: Keyring
}

const content = { signed: 'signing-key-mark' }

/**
 * Creates the mark that shows with which key the process signs that started last. `isForeign` replaces it, and returns whether this process
 * does not have that key: it then trusts no request of the other process. Throws StoreUnavailableError if Redis does not answer.
 */
export function createSigningKeyMark({ redis, keys, keyring }: SigningKeyMarkParts) {
  return async function isForeign(): Promise<boolean> {
    const before = await guardStore(() => redis.set(keys.signingKeyMark, keyring.sign(content), 'GET'))
    return before !== null && keyring.verify(content, before) === 'unknown-key'
  }
}
