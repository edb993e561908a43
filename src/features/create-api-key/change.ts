import { z } from 'zod'
import { ensureDeleted, findApiKey } from '../../account-api/api-key-lookup.ts'
import type { AccountApi } from '../../account-api/client.ts'
import { staysUnchecked } from '../../account-api/reading.ts'
import type { ApiKey } from '../../domain/account/api-key.ts'
import { keyPhrase, labelOf } from '../../domain/account/api-key-name.ts'
import { findNamesakes } from '../../domain/account/namesakes.ts'
import type { Change } from '../../domain/change/change.ts'
import type { Description } from '../../domain/change/description.ts'
import { explainer } from '../../domain/change/finding.ts'
import type { Moment, Observation } from '../../domain/change/observation.ts'
import type { Preflight, PreflightOptions } from '../../domain/change/preflight.ts'
import { phrase } from '../../domain/text/phrase.ts'
import { NewKeyFinding, newKeyWords, refuseNewKey } from './findings.ts'

/** `name` is unique, so that a key whose creation was not confirmed can be found by it. */
export const NewKey = z.object({ name: z.string(), readOnly: z.boolean(), allowedIps: z.array(z.string()) })
export type NewKey = z.infer<typeof NewKey>

/**
 * Creates the change that creates an API key (interface specification, "POST /auth/api_keys"). The requester takes it with a click after
 * the approval.
 */
export function createNewKeyChange({ apiKeys }: Pick<AccountApi, 'apiKeys'>): Change<NewKey, NewKey> {
  const findByName = (name: string, signal?: AbortSignal) => findApiKey(apiKeys, (key) => key.name === name, { signal })

  async function preflight(input: NewKey, { signal }: PreflightOptions): Promise<Preflight<NewKey, NewKey>> {
    try {
      const keys = await apiKeys.list({ signal })
      if (keys.some(({ name }) => name === input.name)) refuseNewKey({ code: 'name-taken', name: input.name })
      return { facts: input, unchecked: [], warnings: [...sameNameAmong(keys, input), ...warningsAbout(input)], incomplete: false }
    } catch (error) {
      if (!staysUnchecked(error)) throw error
      return {
        facts: input,
        unchecked: [{ code: 'keys-unread' } satisfies NewKeyFinding],
        warnings: warningsAbout(input),
        incomplete: true,
      }
    }
  }

  /** Deletes a key whose token nobody has seen. A key that was used counts as seen. */
  async function observe(input: NewKey, _: NewKey, moment: Moment): Promise<Observation> {
    const key = await findByName(input.name)
    if (key?.lastUsedAt !== undefined) return { is: 'done' }
    if (key) {
      await ensureDeleted(apiKeys, key.id)
      if (await findByName(input.name)) return { is: 'unclear' }
      return { is: 'failed', cause: { code: 'created-unseen', resourceId: key.id } satisfies NewKeyFinding, corrects: true }
    }
    if (moment.early) return { is: 'unclear' }
    return { is: 'not-started', cause: { code: 'no-such-key' } satisfies NewKeyFinding }
  }

  return {
    kind: 'key.create',
    label: 'a new API key',
    input: NewKey,
    facts: NewKey,
    resource: ({ name }) => `api_key_name:${name}`,
    // The name on the account is unique. Two open requests with one label would create two keys that people can't distinguish.
    moreResources: ({ name }) => [`api_key_label:${labelOf(name).toLowerCase()}`],
    preflight,
    differences: () => [],
    explain: explainer(NewKeyFinding, newKeyWords),
    subject: ({ name }) => labelOf(name),
    describe: describeNewKey,
    handover: {
      label: 'Create key',
      issue: async ({ name, readOnly, allowedIps }, _, { onAnswer }) => {
        const { key, token } = await apiKeys.create({ name, readOnly, allowedIps }, { onAnswer })
        return {
          id: key.id,
          secret: token,
          heading: `Your new API key ${labelOf(name)}`,
          note: `${seenOnce} Its name on the account is ${name}.`,
        }
      },
      retract: ({ id }) => ensureDeleted(apiKeys, id),
      retracted: ({ id }, because): NewKeyFinding => ({ code: 'retracted', resourceId: id, because }),
    },
    observe,
    doneSentence: (facts) => phrase`Created API key ${keyPhrase(facts.name)}. Its token was shown once.`,
  }
}

function describeNewKey(facts: NewKey): Description {
  return {
    title: phrase`Create API key ${keyPhrase(facts.name)}`,
    facts: [
      { label: 'Access', value: accessOf(facts) },
      { label: 'Usable from', value: originsOf(facts) },
    ],
    ids: [{ label: 'Name on the account', value: facts.name }],
    underway: 'being created',
  }
}

/** Warns approvers of keys that people can't tell from the new one, because a rotation or a revocation names them alike. */
function sameNameAmong(keys: ApiKey[], { name }: NewKey): NewKeyFinding[] {
  const known = keys.flatMap((key) => (key.name === undefined ? [] : [{ id: shownAs(key), name: labelOf(key.name) }]))
  const namesakes = findNamesakes(labelOf(name), known)
  return namesakes ? [{ code: 'same-name', name: labelOf(name), ...namesakes }] : []
}

/** Names a key as lists show it, which have the end of its token and no id. */
function shownAs({ id, tokenLastSlice }: ApiKey): string {
  return tokenLastSlice === undefined ? id : `…${tokenLastSlice}`
}

/** Warns approvers of a key with full access that works from any address. */
function warningsAbout({ readOnly, allowedIps }: NewKey): NewKeyFinding[] {
  return !readOnly && allowedIps.length === 0 ? [{ code: 'full-access-from-everywhere' }] : []
}

const seenOnce = 'Shown once. Save it in your secrets manager now. If it is lost, request to rotate or revoke the key.'

function accessOf({ readOnly }: NewKey): string {
  return readOnly ? 'read-only' : 'full access'
}

function originsOf({ allowedIps }: NewKey): string {
  return allowedIps.length > 0 ? allowedIps.join(', ') : 'any IP'
}
