import { z } from 'zod'
import { findInList } from '../../account/resource.ts'
import type { App } from '../../app.ts'
import type { Change } from '../../domain/change.ts'
import { phrase } from '../../domain/text.ts'
import { changeFeature } from '../../kit/change-feature.ts'
import { pick } from '../../kit/change-form.ts'
import { finding, findings } from '../../kit/findings.ts'
import { changeEnd } from '../../kit/key-ends.ts'
import { findTyped } from '../../kit/thing.ts'
import { mrkdwn } from '../../slack/text.ts'
import {
  describeKey,
  differences,
  KeyFacts,
  keyOf,
  keysWithEnds,
  othersWork,
  pickedKey,
  preflightKey,
  resourceOf,
  sharedFindings,
  subjectOf,
} from './existing.ts'

const Revocation = z.object({ keyId: z.string() })
type Revocation = z.infer<typeof Revocation>

export const revocationFindings = findings({
  ...sharedFindings,
  'not-revoked': finding("The key wasn't revoked. It is still on the account and still works."),
})
type RevocationFinding = z.infer<typeof revocationFindings.schema>

export const revokeApiKey = changeFeature<Revocation, KeyFacts, 'keyId'>({
  kind: 'key.revoke',
  change: revokeChange,
  findings: revocationFindings,
  form: {
    callbackId: 'revoke-api-key',
    title: 'Revoke an API key',
    about: 'keyId',
    fields: { keyId: pick(keysWithEnds, { label: 'API key', hint: 'Its token stops working when the revocation starts.' }) },
    filled: (_, facts) => ({ keyId: pickedKey(facts) }),
  },
  command: {
    words: 'keys revoke',
    synonyms: ['keys delete', 'keys remove'],
    group: 'Keys',
    usage: '[<key>]',
    summary: 'Request to revoke an API key',
    details: mrkdwn`The key by name or id. Without a key: opens a form. After the approval, the key is deleted and its token stops working.`,
    examples: ['laptop of ada'],
  },
  read: async (app, { args }) => {
    const typed = args.join(' ')
    return {
      thing: keysWithEnds,
      typed,
      found: await findTyped(app, keysWithEnds, typed),
      inputOf: (keyId) => ({ keyId }),
      ask: mrkdwn`Which one should be revoked?`,
      byId: 'keys revoke <id>',
    }
  },
  item: { of: 'api-key', label: 'Revoke…', style: 'danger' },
})

/** The change that revokes a key (vendor's OpenAPI document, "DELETE /auth/api_keys/{api_key_id}"). */
export function revokeChange(app: App): Change<Revocation, KeyFacts> {
  return {
    kind: 'key.revoke',
    label: 'revoking an API key',
    input: Revocation,
    facts: KeyFacts,
    resource: resourceOf,
    subject: subjectOf,
    preflight: ({ keyId }, options) => preflightKey(app, 'revoke', keyId, options),
    differences,
    explain: revocationFindings.explain,
    describe: (facts) =>
      describeKey(facts, {
        title: phrase`Revoke API key ${keyOf(facts)}`,
        endsIn: 'Token ends in',
        underway: 'being revoked',
        isWarned: false,
      }),
    send: async ({ keyId }, _, { onAnswer }) => {
      await app.account.apiKeys.delete(keyId, { onAnswer })
      // If this fails, a list shows that the key is gone.
      await changeEnd(app, keyId, () => 'none').catch(() => {})
      return 'done'
    },
    observe: async ({ keyId }, _, moment) => {
      if (!findInList(await app.account.apiKeys.list(), ({ id }) => id === keyId)) return { is: 'done' }
      if (moment.isUnsettled) return { is: 'unclear' }
      return { is: 'not-started', cause: { code: 'not-revoked' } satisfies RevocationFinding }
    },
    doneSentence: (facts) => phrase`Revoked API key ${keyOf(facts)}. It no longer works.${othersWork(facts)}`,
  }
}
