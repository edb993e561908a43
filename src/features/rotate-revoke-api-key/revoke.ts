import { ensureDeleted, findApiKey } from '../../account-api/api-key-lookup.ts'
import type { Change } from '../../domain/change/change.ts'
import { phrase } from '../../domain/text/phrase.ts'
import type { KeyFinding } from './findings.ts'
import { factsOf, idsOf, type KeyChangeParts, type KeyFacts, type KeyInput, keyOf, sharedParts } from './key.ts'

/** Creates the change that revokes a key (vendor's OpenAPI document, "DELETE /auth/api_keys/{api_key_id}"). */
export function createRevokeChange(parts: KeyChangeParts): Change<KeyInput, KeyFacts> {
  const { apiKeys } = parts.accountApi

  return {
    ...sharedParts(parts, 'revoke'),
    kind: 'key.revoke',
    label: 'revoking an API key',
    describe: (facts) => ({
      title: phrase`Revoke API key ${keyOf(facts)}`,
      facts: factsOf(facts, 'revoke'),
      ids: idsOf(facts),
      underway: 'being revoked',
    }),
    run: async ({ keyId }, _, { onAnswer }) => {
      await ensureDeleted(apiKeys, keyId, { onAnswer })
      return 'done'
    },
    observe: async ({ keyId }, _, moment) => {
      if (!(await findApiKey(apiKeys, ({ id }) => id === keyId))) return { is: 'done' }
      if (moment.early) return { is: 'unclear' }
      return { is: 'not-started', cause: { code: 'not-revoked' } satisfies KeyFinding }
    },
    doneSentence: (facts) => phrase`Revoked API key ${keyOf(facts)}. It no longer works.`,
  }
}
