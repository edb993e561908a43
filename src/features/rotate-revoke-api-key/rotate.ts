import { ensureDeleted, findApiKey } from '../../account-api/api-key-lookup.ts'
import type { Change } from '../../domain/change/change.ts'
import type { Moment, Observation } from '../../domain/change/observation.ts'
import { phrase } from '../../domain/text/phrase.ts'
import type { KeyFinding } from './findings.ts'
import { factsOf, idsOf, type KeyChangeParts, type KeyFacts, type KeyInput, keyOf, labelOfKey, sharedParts } from './key.ts'

/**
 * Creates the change that gives a key a new token (vendor's OpenAPI document, "PUT /auth/api_keys/{api_key_id}"). The old token stops
 * working at once. The requester takes the new one after the approval.
 */
export function createRotateChange(parts: KeyChangeParts): Change<KeyInput, KeyFacts> {
  const { apiKeys } = parts.accountApi

  /**
   * Detects a rotation by the last characters of the token. Deletes the key if nobody has seen its new token. After a report of not
   * rotated, a person may have rotated the key and may use the new token, so it is kept.
   */
  async function observe(input: KeyInput, facts: KeyFacts, moment: Moment): Promise<Observation> {
    const key = await findApiKey(apiKeys, ({ id }) => id === input.keyId)
    if (!key) return failed({ code: 'key-gone' })
    // Without the last characters of the token, a rotation cannot be detected.
    if (facts.lastSlice === undefined || key.tokenLastSlice === undefined) return { is: 'unclear' }
    if (key.tokenLastSlice === facts.lastSlice) {
      if (moment.early) return { is: 'unclear' }
      return { is: 'not-started', cause: { code: 'not-rotated' } satisfies KeyFinding }
    }
    if (moment.phase === 'ended') return { ...failed({ code: 'rotated-after-all' }), corrects: true }
    await ensureDeleted(apiKeys, key.id)
    return failed({ code: 'rotated-unseen' })
  }

  return {
    ...sharedParts(parts, 'rotate'),
    kind: 'key.rotate',
    label: 'rotating an API key',
    describe: (facts) => ({
      title: phrase`Rotate API key ${keyOf(facts)}`,
      facts: factsOf(facts, 'rotate'),
      ids: idsOf(facts),
      underway: 'being rotated',
    }),
    handover: {
      label: 'Rotate key',
      warning: 'The old token stops working at once.',
      issue: async ({ keyId }, facts, { onAnswer }) => {
        const { token } = await apiKeys.rotate(keyId, facts.name ?? '', { onAnswer })
        return {
          id: keyId,
          secret: token,
          heading: `The new token of API key ${labelOfKey(facts)}`,
          note: `${seenOnce} The old token no longer works.`,
        }
      },
      retract: ({ id }) => ensureDeleted(apiKeys, id),
      retracted: (_, because): KeyFinding => ({ code: 'retracted', because }),
    },
    observe,
    doneSentence: (facts) => phrase`Rotated API key ${keyOf(facts)}. Its new token was shown once. The old token no longer works.`,
  }
}

function failed(cause: KeyFinding): Extract<Observation, { is: 'failed' }> {
  return { is: 'failed', cause }
}

const seenOnce = 'Shown once. Save it in your secrets manager now.'
