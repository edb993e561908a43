import { z } from 'zod'
import { ensureDeleted, findApiKey } from '../../account-api/api-key-lookup.ts'
import type { AccountApi } from '../../account-api/client.ts'
import { deletingActions } from '../../domain/account-event.ts'
import type { ApiKey } from '../../domain/api-key.ts'
import type { Change, Fact, Moment, Preflight, PreflightOptions } from '../../domain/change.ts'
import { isUnanswered } from '../../domain/errors.ts'
import { explainer } from '../../domain/finding.ts'
import type { Observation } from '../../domain/observation.ts'
import { KeyFinding, keyWords, refuseKeyChange } from './findings.ts'

export const KeyInput = z.object({ keyId: z.string() })
export type KeyInput = z.infer<typeof KeyInput>

/** The key as it was listed. What could not be read is absent. */
export const KeyFacts = z.object({
  keyId: z.string(),
  name: z.string().optional(),
  lastSlice: z.string().optional(),
  readOnly: z.boolean().optional(),
  allowedIps: z.array(z.string()).optional(),
  owner: z.string().optional(),
})
export type KeyFacts = z.infer<typeof KeyFacts>

interface KeyChangeParts {
  accountApi: Pick<AccountApi, 'apiKeys'>
  /** The last characters of the key that the bot itself uses. */
  ownLastSlice: string
}

/** A new token for a key (`PUT /auth/api_keys/{id}`): the old one stops working at once. Taken by its requester after the approval. */
export function createRotateChange({ accountApi: { apiKeys }, ownLastSlice }: KeyChangeParts): Change<KeyInput, KeyFacts> {
  /**
   * Whether it was rotated shows in the last characters of its token. A new token that nobody has seen must not stay valid; but once it
   * was told as not rotated, whoever has read that may have rotated it, and uses what is there.
   */
  async function observe(input: KeyInput, facts: KeyFacts, moment: Moment): Promise<Observation> {
    const key = await findApiKey(apiKeys, ({ id }) => id === input.keyId)
    if (!key) return failed({ code: 'key-gone' })
    // Without the last characters of the token nothing tells whether it was rotated.
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
    ...sharedParts(apiKeys, ownLastSlice, 'rotate'),
    kind: 'key.rotate',
    label: 'rotating an API key',
    eventActions: ['rotate', 'update', 'regenerate'],
    describe: (facts) => ({
      title: 'Rotate API key',
      sentence: `Rotate API key ${nameOf(facts)}`,
      facts: factsOf(facts),
      underway: 'being rotated',
    }),
    handover: {
      label: 'Rotate and show',
      issue: async ({ keyId }, facts, { onAnswer }) => {
        const { token } = await apiKeys.rotate(keyId, facts.name ?? '', { onAnswer })
        return {
          id: keyId,
          secret: token,
          heading: `The new token of API key ${nameOf(facts)}`,
          note: `The old token has stopped working. ${seenOnce}`,
        }
      },
      retract: ({ id }) => ensureDeleted(apiKeys, id),
      retractActions: deletingActions,
      retracted: (_, because): KeyFinding => ({ code: 'retracted', because }),
    },
    observe,
    doneSentence: (facts) =>
      `API key ${nameOf(facts)} was rotated, and its new token shown to the person who asked, once. The old token has stopped working.`,
  }
}

function failed(cause: KeyFinding): Extract<Observation, { is: 'failed' }> {
  return { is: 'failed', cause }
}

const seenOnce = 'Only you see the new one, and only now: store it where secrets belong before you go on. Nobody can show it again.'

/** The end of a key (`DELETE /auth/api_keys/{id}`). */
export function createRevokeChange({ accountApi: { apiKeys }, ownLastSlice }: KeyChangeParts): Change<KeyInput, KeyFacts> {
  return {
    ...sharedParts(apiKeys, ownLastSlice, 'revoke'),
    kind: 'key.revoke',
    label: 'revoking an API key',
    eventActions: deletingActions,
    describe: (facts) => ({
      title: 'Revoke API key',
      sentence: `Revoke API key ${nameOf(facts)}`,
      facts: factsOf(facts),
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
    doneSentence: (facts) => `API key ${nameOf(facts)} was revoked, and no longer works.`,
  }
}

function sharedParts(apiKeys: AccountApi['apiKeys'], ownLastSlice: string, verb: 'rotate' | 'revoke') {
  async function preflight({ keyId }: KeyInput, { signal }: PreflightOptions): Promise<Preflight<KeyFacts, KeyInput>> {
    try {
      const key = await findApiKey(apiKeys, ({ id }) => id === keyId, { signal })
      if (!key) refuseKeyChange({ code: 'no-key', keyId })
      if (key.tokenLastSlice === ownLastSlice) refuseKeyChange({ code: 'own-key', verb })
      const unchecked: KeyFinding[] = key.tokenLastSlice === undefined ? [{ code: 'perhaps-own-key', name: key.name ?? keyId }] : []
      return { facts: toFacts(key), input: { keyId: key.id }, unchecked, incomplete: false }
    } catch (error) {
      if (!isUnanswered(error)) throw error
      return { facts: { keyId }, unchecked: [{ code: 'key-unread', keyId } satisfies KeyFinding], incomplete: true }
    }
  }

  return {
    input: KeyInput,
    facts: KeyFacts,
    resource: ({ keyId }: KeyInput) => `api_key:${keyId}`,
    project: () => 'none' as const,
    preflight,
    differences: differencesOf,
    explain: explainer(KeyFinding, keyWords),
  }
}

/** A rotation by somebody else makes it another key than the one that was approved. Only what both reads show is compared. */
export function differencesOf(approved: KeyFacts, now: KeyFacts): KeyFinding[] {
  if (differ(approved.lastSlice, now.lastSlice)) return [{ code: 'token-changed' }]
  if (approved.name !== undefined && now.name !== undefined && differ(approved.name, now.name))
    return [{ code: 'key-name-changed', before: approved.name, now: now.name }]
  if (differ(approved.readOnly, now.readOnly)) return [{ code: 'access-changed', before: accessOf(approved), now: accessOf(now) }]
  if (differ(inOrder(approved.allowedIps), inOrder(now.allowedIps)))
    return [{ code: 'origins-changed', before: originsOf(approved), now: originsOf(now) }]
  return []
}

/** The order of addresses means nothing. */
function inOrder(addresses: string[] | undefined): string | undefined {
  return addresses && JSON.stringify(addresses.toSorted())
}

function differ<T>(approved: T | undefined, now: T | undefined): boolean {
  return approved !== undefined && now !== undefined && approved !== now
}

function toFacts(key: ApiKey): KeyFacts {
  return {
    keyId: key.id,
    ...(key.allowedIps === undefined ? {} : { allowedIps: key.allowedIps }),
    ...(key.name === undefined ? {} : { name: key.name }),
    ...(key.tokenLastSlice === undefined ? {} : { lastSlice: key.tokenLastSlice }),
    ...(key.readOnly === undefined ? {} : { readOnly: key.readOnly }),
    ...(key.user?.email === undefined ? {} : { owner: key.user.email }),
  }
}

function factsOf(facts: KeyFacts): Fact[] {
  return [
    { label: 'API key', value: nameOf(facts), ...(facts.name === undefined ? {} : { detail: facts.keyId }) },
    { label: 'Ends in', value: facts.lastSlice ?? 'not known' },
    { label: 'Access', value: accessOf(facts) },
    { label: 'Usable from', value: originsOf(facts) },
    { label: 'Owner', value: facts.owner ?? 'not known' },
  ]
}

function accessOf({ readOnly }: KeyFacts): string {
  return readOnly === undefined ? 'not known' : readOnly ? 'read-only access' : 'full access'
}

function originsOf({ allowedIps }: KeyFacts): string {
  return allowedIps === undefined ? 'not known' : allowedIps.length > 0 ? allowedIps.join(', ') : 'everywhere'
}

function nameOf({ keyId, name }: KeyFacts): string {
  return name ?? keyId
}
