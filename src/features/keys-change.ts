import { z } from 'zod'
import { ensureDeleted } from '../account/client.ts'
import { type ApiKey, ownVariableOf } from '../account/objects.ts'
import { asFarAsRead, findInList, listNow, staysUnchecked } from '../account/resource.ts'
import type { App } from '../app.ts'
import { fullAccessFromEverywhere, keyPhrase, labelOf, requesterOfKey } from '../domain/account.ts'
import {
  type Change,
  type Description,
  type Fact,
  type Moment,
  type Observation,
  type Preflight,
  type PreflightOptions,
  RetractedBecause,
  retractedBecause,
} from '../domain/change.ts'
import type { ChangeKind } from '../domain/policy.ts'
import { formatDuration, type Phrase, person, phrase } from '../domain/text.ts'
import { changeFeature } from '../kit/change-feature.ts'
import { finding, findings, namesakes } from '../kit/findings.ts'
import { pick } from '../kit/form.ts'
import { findTyped } from '../kit/thing.ts'
import { apiKeys, keyNamesakes } from '../kit/things.ts'
import type { ItemAction } from '../requests/clicks.ts'
import { dropEnd } from '../requests/key-ends.ts'
import type { Command } from '../slack/commands.ts'
import { preset } from '../slack/pickers.ts'
import { mrkdwn } from '../slack/text.ts'

const KeyInput = z.object({ keyId: z.string() })
type KeyInput = z.infer<typeof KeyInput>

/** The key as the account API listed it. Members that could not be read are absent. */
const KeyFacts = z.object({
  keyId: z.string(),
  name: z.string().optional(),
  lastSlice: z.string().optional(),
  readOnly: z.boolean().optional(),
  allowedIps: z.array(z.string()).optional(),
  owner: z.string().optional(),
})
export type KeyFacts = z.infer<typeof KeyFacts>

const Verb = z.enum(['rotate', 'revoke'])
type Verb = z.infer<typeof Verb>

const nothingLeft = 'There is nothing left to do.'
const requestNew = 'Request a new key.'
const keyId = z.string()
const name = z.string()
const ms = z.number().optional()

export const keyFindings = findings({
  'no-key': finding({ keyId, verb: Verb }, ({ keyId }) => phrase`No API key ${keyId} on the account.`, {
    next: ({ verb }) => (verb === 'rotate' ? requestNew : nothingLeft),
  }),
  'own-key': finding(
    { verb: Verb, variable: z.enum(['INFRA_API_KEY', 'INFRA_READ_KEY']) },
    ({ verb, variable }) =>
      verb === 'rotate'
        ? `Lockkeeper uses this key, so it can't rotate it. Rotate it in the dashboard and update ${variable}.`
        : `Lockkeeper uses this key, so it can't revoke it. Set another ${variable}, then revoke this key in the dashboard.`,
    { next: 'The people who run Lockkeeper can do that.' },
  ),

  'perhaps-own-key': finding(
    { name },
    ({ name }) => `whether ${labelOf(name)} is Lockkeeper's own key (the account API doesn't show the end of its token)`,
  ),
  'key-unread': finding(
    { keyId },
    ({ keyId }) => `whether API key ${keyId} exists and isn't Lockkeeper's own (the account API didn't answer)`,
  ),

  'token-stops': finding({ verb: Verb }, ({ verb }) =>
    verb === 'rotate'
      ? 'The old token stops working as soon as the requester presses Rotate key.'
      : 'The token stops working when the key is revoked, right after the approval.',
  ),
  /**
   * The times count back from the request. `usedAgoMs`: absent if the account shows no use. `changedAgoMs`: since its last change or rotation,
   * set only if the account shows no use of the key. `creator`: the Slack id of its requester.
   */
  'key-history': finding(
    { usedAgoMs: ms, ageMs: ms, changedAgoMs: ms, creator: z.string().optional() },
    ({ usedAgoMs, ageMs, changedAgoMs, creator }) => {
      // People may read it hours later, so it says what the time counts back from.
      const before = (ago: number) => `${formatDuration(ago)} before this request`
      const since = changedAgoMs === undefined ? '' : ` since it was last changed or rotated, ${before(changedAgoMs)}`
      const used = usedAgoMs === undefined ? `The account shows no use of it${since}.` : `Last used ${before(usedAgoMs)}.`
      const created = ageMs === undefined ? 'Created at an unknown time' : `Created ${before(ageMs)}`
      return phrase`${[used]} ${[created]}${creator === undefined ? [] : phrase`, for ${person(creator)}`}.`
    },
  ),
  'full-access-from-everywhere': finding(fullAccessFromEverywhere),
  namesakes: namesakes(apiKeys),

  'token-changed': finding('Another change rotated the key after this was requested.'),
  'key-changed': finding(
    { what: z.enum(['name', 'access', 'allowed addresses']), before: z.string(), now: z.string() },
    ({ what, before, now }) => phrase`The key's ${[what]} was ${before} when this was requested, and is ${now} now.`,
  ),

  'key-gone': finding(
    'The key is no longer on the account. Either Lockkeeper deleted it because nobody saw its new token, or another change deleted it.',
    { next: requestNew },
  ),
  'not-rotated': finding("The key wasn't rotated. Its old token still works."),
  'not-revoked': finding("The key wasn't revoked. It is still on the account and still works."),
  'rotated-unseen': finding(
    'The key was rotated, so its old token no longer works. Nobody saw the new token, so Lockkeeper deleted the key.',
    { next: requestNew },
  ),

  retracted: finding(
    { because: RetractedBecause },
    ({ because }) =>
      `The key was rotated, so its old token no longer works. ${retractedBecause[because]}, so Lockkeeper deleted the key at once.`,
    { next: requestNew },
  ),
})
type KeyFinding = z.infer<typeof keyFindings.schema>

interface KeyFeature extends Pick<Command, 'summary' | 'details' | 'examples'>, Pick<ItemAction, 'label' | 'style'> {
  kind: ChangeKind
  change: (app: App) => Change<KeyInput, KeyFacts>
  title: string
  hint: string
}

function keyFeature(verb: Verb, { kind, change, title, hint, label, style, ...command }: KeyFeature) {
  return changeFeature<KeyInput, KeyFacts, 'keyId'>({
    kind,
    change,
    findings: keyFindings,
    form: {
      callbackId: `${verb}-api-key`,
      startsOnClick: verb === 'rotate' || undefined,
      title,
      fields: { keyId: pick(apiKeys, { label: 'API key', hint }) },
      filled: (_, { keyId, name }) => ({
        keyId: preset({ text: name === undefined ? keyId : labelOf(name), value: keyId, description: keyId }),
      }),
    },
    command: { words: `keys ${verb}`, group: 'Keys', usage: '[<key>]', ...command },
    read: async (app, { args }) => {
      const typed = args.join(' ')
      const found = await findTyped(app, apiKeys, typed)
      const ask = mrkdwn`Which one should be ${verb}d?`
      return { thing: apiKeys, typed, found, inputOf: (keyId) => ({ keyId }), ask, byId: `keys ${verb} <id>` }
    },
    item: { of: 'api-key', label, style },
  })
}

export const rotateApiKey = keyFeature('rotate', {
  kind: 'key.rotate',
  change: rotateChange,
  title: 'Rotate an API key',
  label: 'Rotate…',
  hint: 'After the approval, you press “Rotate key”. The old token stops working then, and the new one is shown once, only to you.',
  summary: 'Request a new token for an API key',
  details: mrkdwn`The key by name or id. Without a key: opens a form. After the approval, press *Rotate key*. The old token stops working, and the new one is shown once, only to you.`,
  examples: ['terraform', 'laptop of ada'],
})

export const revokeApiKey = keyFeature('revoke', {
  kind: 'key.revoke',
  change: revokeChange,
  title: 'Revoke an API key',
  label: 'Revoke…',
  style: 'danger',
  hint: 'Its token stops working as soon as the request is approved.',
  summary: 'Request to revoke an API key',
  details: mrkdwn`The key by name or id. Without a key: opens a form. After the approval, the key is deleted and its token stops working.`,
  examples: ['laptop of ada'],
})

/** The change that revokes a key (vendor's OpenAPI document, "DELETE /auth/api_keys/{api_key_id}"). */
export function revokeChange(app: App): Change<KeyInput, KeyFacts> {
  return {
    ...membersOf(app, 'revoke'),
    kind: 'key.revoke',
    label: 'revoking an API key',
    run: async ({ keyId }, _, { onAnswer }) => {
      await ensureDeleted(app.account.apiKeys, keyId, { onAnswer })
      // If this fails, a list shows that the key is gone.
      await dropEnd(app, { keyId }).catch(() => {})
      return 'done'
    },
    observe: async ({ keyId }, _, moment) => {
      if (!(await findInList(app.account.apiKeys.list(), ({ id }) => id === keyId))) return { is: 'done' }
      if (moment.isUnsettled) return { is: 'unclear' }
      return { is: 'not-started', cause: { code: 'not-revoked' } satisfies KeyFinding }
    },
    doneSentence: (facts) => phrase`Revoked API key ${keyOf(facts)}. It no longer works.`,
  }
}

/** The old token stops working at once (vendor's OpenAPI document, "PUT /auth/api_keys/{api_key_id}"). */
export function rotateChange(app: App): Change<KeyInput, KeyFacts> {
  const members = membersOf(app, 'rotate')
  return {
    ...members,
    kind: 'key.rotate',
    label: 'rotating an API key',
    handover: {
      label: 'Rotate key',
      warning: 'The old token stops working at once.',
      issue: async ({ keyId }, facts, { onAnswer }) => {
        const { token } = await app.account.apiKeys.rotate(keyId, facts.name ?? '', { onAnswer })
        return {
          id: keyId,
          secret: token,
          heading: `The new token of API key ${members.subject(facts)}`,
          note: 'Shown once. Save it in your secrets manager now. The old token no longer works.',
        }
      },
      retract: ({ id }) => ensureDeleted(app.account.apiKeys, id),
      retracted: (_, because): KeyFinding => ({ code: 'retracted', because }),
    },
    observe: (input, facts, moment) => observeRotation(app, input, facts, moment),
    doneSentence: (facts) => phrase`Rotated API key ${keyOf(facts)}. Its new token was shown once. The old token no longer works.`,
  }
}

/** Deletes a rotated key whose new token nobody has seen. After a report of not rotated, a person may use the new token, so it is kept. */
async function observeRotation(app: App, { keyId }: KeyInput, { lastSlice }: KeyFacts, moment: Moment): Promise<Observation> {
  const failed = (cause: KeyFinding) => ({ is: 'failed' as const, cause })
  const key = await findInList(app.account.apiKeys.list(), ({ id }) => id === keyId)
  if (!key) return failed({ code: 'key-gone' })
  // Without the last characters of the token, a rotation cannot be detected.
  if (lastSlice === undefined || key.tokenLastSlice === undefined) return { is: 'unclear' }
  if (key.tokenLastSlice === lastSlice) {
    if (moment.isUnsettled) return { is: 'unclear' }
    return { is: 'not-started', cause: { code: 'not-rotated' } satisfies KeyFinding }
  }
  await ensureDeleted(app.account.apiKeys, key.id)
  return failed({ code: 'rotated-unseen' })
}

function membersOf(app: App, verb: Verb) {
  return {
    input: KeyInput,
    facts: KeyFacts,
    resource: ({ keyId }: KeyInput) => `api_key:${keyId}`,
    subject: ({ name, keyId }: KeyFacts) => (name === undefined ? keyId : labelOf(name)),
    preflight: (input: KeyInput, options: PreflightOptions) => preflight(app, verb, input, options),
    differences,
    explain: keyFindings.explain,
    describe: (facts: KeyFacts) => describe(verb, facts),
  }
}

async function preflight(
  app: App,
  verb: Verb,
  { keyId }: KeyInput,
  { signal, forRequest }: PreflightOptions,
): Promise<Preflight<KeyFacts, KeyInput>> {
  try {
    const list = listNow(forRequest ? app.lists.apiKeys : undefined, () => app.account.apiKeys.list({ signal }))
    const key = await findInList(list, ({ id }) => id === keyId)
    if (!key) return keyFindings.refuse({ code: 'no-key', keyId, verb })
    const { items: all } = await asFarAsRead(list)
    const variable = ownVariableOf(key, app.ownLastSlices)
    if (variable) keyFindings.refuse({ code: 'own-key', verb, variable })
    const perhapsOwn: KeyFinding = { code: 'perhaps-own-key', name: key.name ?? keyId }
    return {
      facts: {
        keyId: key.id,
        name: key.name,
        lastSlice: key.tokenLastSlice,
        readOnly: key.readOnly,
        allowedIps: key.allowedIps,
        owner: key.user?.email,
      },
      input: { keyId: key.id },
      unchecked: key.tokenLastSlice === undefined ? [perhapsOwn] : [],
      warnings: warningsAbout(key, verb, { all, now: Date.now() }),
      incomplete: false,
    }
  } catch (error) {
    if (!staysUnchecked(error)) throw error
    const unchecked: KeyFinding[] = [{ code: 'key-unread', keyId }]
    const warnings: KeyFinding[] = [{ code: 'token-stops', verb }]
    return { facts: { keyId }, unchecked, warnings, incomplete: true }
  }
}

/** Lists what approvers should know about a key. `all`: the keys of the account. `now`: ms since 1970. */
function warningsAbout(key: ApiKey, verb: Verb, { all, now }: { all: ApiKey[]; now: number }): KeyFinding[] {
  const warnings: KeyFinding[] = [{ code: 'token-stops', verb }, historyOf(key, now)]
  if (key.name) warnings.unshift(...keyNamesakes(all, labelOf(key.name), key.id))
  if (verb === 'rotate' && key.readOnly === false && key.allowedIps?.length === 0) warnings.push({ code: 'full-access-from-everywhere' })
  return warnings
}

function historyOf(key: ApiKey, now: number): KeyFinding {
  const [usedAgoMs, ageMs, changedAgoMs] = [key.lastUsedAt, key.createdAt, key.updatedAt].map((at) => {
    const ago = now - Date.parse(at ?? '')
    return Number.isNaN(ago) ? undefined : Math.max(0, ago)
  })
  // After a rotation the account may show no use of a key that was in use until then.
  const isChanged = usedAgoMs === undefined && changedAgoMs !== ageMs
  return { code: 'key-history', usedAgoMs, ageMs, changedAgoMs: isChanged ? changedAgoMs : undefined, creator: requesterOfKey(key) }
}

/** Finds what has changed since the approval, such as a rotation by somebody else. Compares only what both reads show. */
function differences(approved: KeyFacts, now: KeyFacts): KeyFinding[] {
  const differ = <T>(of: (facts: KeyFacts) => T | undefined) =>
    of(approved) !== undefined && of(now) !== undefined && of(approved) !== of(now)
  if (differ(({ lastSlice }) => lastSlice)) return [{ code: 'token-changed' }]
  const changed = (what: 'name' | 'access' | 'allowed addresses', words: (facts: KeyFacts) => string): KeyFinding[] => [
    { code: 'key-changed', what, before: words(approved), now: words(now) },
  ]
  if (differ(({ name }) => name)) return changed('name', ({ name = '' }) => name)
  if (differ(({ readOnly }) => readOnly)) return changed('access', accessOf)
  return differ(({ allowedIps }) => allowedIps && JSON.stringify(allowedIps.toSorted())) ? changed('allowed addresses', originsOf) : []
}

/** A rotation replaces the token, so its message goes on showing the end of the old one. */
function describe(verb: Verb, facts: KeyFacts): Description {
  const { keyId, name, lastSlice, owner } = facts
  const requester = requesterOfKey({ name })
  const whom: Fact[] = requester === undefined ? [] : [{ label: 'For', value: requester, isPerson: true }]
  return {
    title: verb === 'rotate' ? phrase`Rotate API key ${keyOf(facts)}` : phrase`Revoke API key ${keyOf(facts)}`,
    facts: [
      ...whom,
      { label: verb === 'rotate' ? 'Old token ends in' : 'Token ends in', value: lastSlice ?? 'unknown' },
      { label: 'Access', value: accessOf(facts) },
      { label: 'Usable from', value: originsOf(facts) },
      { label: 'Owner', value: owner ?? 'unknown' },
    ],
    ids: [
      ...(name === undefined ? [] : [{ label: 'API key', value: keyId }]),
      // People know the key by less than its whole name.
      ...(name === undefined || name === labelOf(name) ? [] : [{ label: 'Name on the account', value: name }]),
    ],
    underway: verb === 'rotate' ? 'being rotated' : 'being revoked',
  }
}

function accessOf({ readOnly }: KeyFacts): string {
  return readOnly === undefined ? 'unknown' : readOnly ? 'read-only' : 'full access'
}

function originsOf({ allowedIps }: KeyFacts): string {
  return allowedIps === undefined ? 'unknown' : allowedIps.length > 0 ? allowedIps.join(', ') : 'any IP'
}

/** Names the key as people know it: `ci-deploy, for @Ada`. Without a name it is the id. */
function keyOf({ keyId, name }: KeyFacts): Phrase {
  return name === undefined ? phrase`${keyId}` : keyPhrase(name)
}
