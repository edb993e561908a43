import { z } from 'zod'
import type { AccountApi } from '../../account-api/client.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import { asFarAsRead, findInList, listNow } from '../../account-api/lists/cut-list.ts'
import { staysUnchecked } from '../../account-api/reading.ts'
import { type ApiKey, type OwnLastSlices, ownVariableOf } from '../../domain/account/api-key.ts'
import { keyPhrase, labelOf, requesterOfKey } from '../../domain/account/api-key-name.ts'
import { looksSame } from '../../domain/account/namesakes.ts'
import type { Fact } from '../../domain/change/description.ts'
import { explainer } from '../../domain/change/finding.ts'
import type { Preflight, PreflightOptions } from '../../domain/change/preflight.ts'
import { type Phrase, phrase } from '../../domain/text/phrase.ts'
import { KeyFinding, keyWords, refuseKeyChange } from './findings.ts'
import { tokenStops, warningsAbout } from './warnings.ts'

export const KeyInput = z.object({ keyId: z.string() })
export type KeyInput = z.infer<typeof KeyInput>

/** The key as the account API listed it. Members that could not be read are absent. */
export const KeyFacts = z.object({
  keyId: z.string(),
  name: z.string().optional(),
  lastSlice: z.string().optional(),
  readOnly: z.boolean().optional(),
  allowedIps: z.array(z.string()).optional(),
  owner: z.string().optional(),
  /** Set if other keys have the same name for people. The end of the token then tells them apart. */
  hasNamesakes: z.literal(true).optional(),
})
export type KeyFacts = z.infer<typeof KeyFacts>

export interface KeyChangeParts {
  accountApi: Pick<AccountApi, 'apiKeys'>
  /** The shared list, for requests. */
  copies?: Pick<Inventory, 'apiKeys'>
  ownLastSlices: OwnLastSlices
}

/** Creates the members that the rotation and the revocation of a key share. */
export function sharedParts({ accountApi: { apiKeys }, copies, ownLastSlices }: KeyChangeParts, verb: 'rotate' | 'revoke') {
  async function preflight(
    { keyId }: KeyInput,
    { signal, forRequest, earlier }: PreflightOptions<KeyFacts>,
  ): Promise<Preflight<KeyFacts, KeyInput>> {
    try {
      const list = listNow(forRequest ? copies?.apiKeys : undefined, () => apiKeys.list({ signal }))
      const key = await findInList(list, ({ id }) => id === keyId)
      if (!key) refuseKeyChange({ code: 'no-key', keyId, ...(earlier?.keyId === keyId ? { name: earlier.name, verb } : {}) })
      const namesakes = namesakesOf(key, (await asFarAsRead(list)).items)
      const variable = ownVariableOf(key, ownLastSlices)
      if (variable) refuseKeyChange({ code: 'own-key', verb, variable })
      const unchecked: KeyFinding[] = key.tokenLastSlice === undefined ? [{ code: 'perhaps-own-key', name: key.name ?? keyId }] : []
      return {
        facts: { ...toFacts(key), ...(namesakes > 0 ? { hasNamesakes: true as const } : {}) },
        input: { keyId: key.id },
        unchecked,
        warnings: warningsAbout(key, verb, { namesakes, now: Date.now() }),
        incomplete: false,
      }
    } catch (error) {
      if (!staysUnchecked(error)) throw error
      const unchecked: KeyFinding[] = [{ code: 'key-unread', keyId }]
      return { facts: { keyId }, unchecked, warnings: [tokenStops(verb)], incomplete: true }
    }
  }

  return {
    input: KeyInput,
    facts: KeyFacts,
    resource: ({ keyId }: KeyInput) => `api_key:${keyId}`,
    subject: ({ name, keyId }: KeyFacts) => (name === undefined ? keyId : labelOf(name)),
    preflight,
    differences: differencesOf,
    explain: explainer(KeyFinding, keyWords),
  }
}

/** Finds what has changed since the approval, such as a rotation by somebody else. Compares only what both reads show. */
export function differencesOf(approved: KeyFacts, now: KeyFacts): KeyFinding[] {
  if (differ(approved.lastSlice, now.lastSlice)) return [{ code: 'token-changed' }]
  if (approved.name !== undefined && now.name !== undefined && differ(approved.name, now.name))
    return [{ code: 'key-name-changed', before: approved.name, now: now.name }]
  if (differ(approved.readOnly, now.readOnly)) return [{ code: 'access-changed', before: accessOf(approved), now: accessOf(now) }]
  if (differ(inOrder(approved.allowedIps), inOrder(now.allowedIps)))
    return [{ code: 'origins-changed', before: originsOf(approved), now: originsOf(now) }]
  return []
}

/** Sorts the addresses, because their order means nothing. */
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

/** `verb`: a rotation replaces the token, so the message goes on showing the end of the old one. */
export function factsOf(facts: KeyFacts, verb: 'rotate' | 'revoke'): Fact[] {
  const requester = requesterOfKey({ name: facts.name })
  return [
    ...(requester === undefined ? [] : [{ label: 'For', value: requester, isPerson: true as const }]),
    { label: verb === 'rotate' ? 'Old token ends in' : 'Token ends in', value: facts.lastSlice ?? 'unknown' },
    { label: 'Access', value: accessOf(facts) },
    { label: 'Usable from', value: originsOf(facts) },
    { label: 'Owner', value: facts.owner ?? 'unknown' },
  ]
}

/** The small print: the id, and the name on the account where it has more than people know the key by. */
export function idsOf(facts: KeyFacts): Fact[] {
  const { keyId, name } = facts
  if (name === undefined) return []
  const fullName = name === labelOf(name) ? [] : [{ label: 'Name on the account', value: name }]
  return [{ label: 'API key', value: keyId }, ...fullName]
}

function accessOf({ readOnly }: KeyFacts): string {
  return readOnly === undefined ? 'unknown' : readOnly ? 'read-only' : 'full access'
}

function originsOf({ allowedIps }: KeyFacts): string {
  return allowedIps === undefined ? 'unknown' : allowedIps.length > 0 ? allowedIps.join(', ') : 'any IP'
}

/** Names the key as people know it: `ci-deploy, for @Ada`, or `ci-deploy (token ends in 716c9)` among several. Without a name it is the id. */
export function keyOf({ keyId, name, lastSlice, hasNamesakes }: KeyFacts): Phrase {
  if (name === undefined) return phrase`${keyId}`
  return hasNamesakes && lastSlice !== undefined ? phrase`${keyPhrase(name)} (token ends in ${lastSlice})` : keyPhrase(name)
}

/** Counts the other keys that people know by the same name. */
function namesakesOf({ id, name }: ApiKey, keys: ApiKey[]): number {
  if (name === undefined) return 0
  return keys.filter((other) => other.id !== id && other.name !== undefined && looksSame(labelOf(other.name), labelOf(name))).length
}

/** Names the key in plain text: `ci-deploy`. */
export function labelOfKey({ keyId, name }: KeyFacts): string {
  return name === undefined ? keyId : labelOf(name)
}
