import { z } from 'zod'
import { ensureDeleted, findApiKey } from '../account/client.ts'
import { type ApiKey, ownVariableOf } from '../account/objects.ts'
import { asFarAsRead, findInList, listNow, staysUnchecked } from '../account/resource.ts'
import type { App } from '../app.ts'
import { fullAccessFromEverywhere, keyPhrase, labelOf, looksSame, requesterOfKey } from '../domain/account.ts'
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
import { formatAge, type Phrase, person, phrase } from '../domain/text.ts'
import { changeFeature } from '../kit/change-feature.ts'
import { finding, findings } from '../kit/findings.ts'
import { pick } from '../kit/form.ts'
import { findTyped } from '../kit/thing.ts'
import { apiKeys } from '../kit/things.ts'
import type { ItemAction } from '../requests/clicks.ts'
import type { Command } from '../slack/commands.ts'
import { preset } from '../slack/pickers.ts'
import { type Mrkdwn, mrkdwn } from '../slack/text.ts'

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
      const before = (ago: number) => `${formatAge(ago)} before this request`
      const since = changedAgoMs === undefined ? '' : ` since it was last changed or rotated, ${before(changedAgoMs)}`
      const used = usedAgoMs === undefined ? `The account shows no use of it${since}.` : `Last used ${before(usedAgoMs)}.`
      const created = ageMs === undefined ? 'Created at an unknown time' : `Created ${before(ageMs)}`
      return phrase`${[used]} ${[created]}${creator === undefined ? [] : phrase`, for ${person(creator)}`}.`
    },
  ),
  'full-access-from-everywhere': finding(fullAccessFromEverywhere),
  'same-name': finding({ name, lastSlice: z.string().optional(), count: z.number() }, ({ name, lastSlice, count }) => {
    const own = lastSlice === undefined ? [] : phrase` This one's token ends in ${lastSlice}.`
    return phrase`${count + 1} API keys are called ${name}.${own}`
  }),

  'token-changed': finding('Another change rotated the key after this was requested.'),
  'key-name-changed': finding('The key was called {before} when this was requested, and is called {now} now.'),
  // The access is in Lockkeeper's own words, and no name.
  'access-changed': finding(
    { before: z.string(), now: z.string() },
    ({ before, now }) => `The key's access was ${before} when this was requested, and is ${now} now.`,
  ),
  'origins-changed': finding('The key was usable from {before} when this was requested, and is usable from {now} now.'),

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

interface KeyFeature extends Pick<Command, 'summary' | 'details' | 'examples'>, Pick<ItemAction, 'style'> {
  kind: ChangeKind
  change: (app: App) => Change<KeyInput, KeyFacts>
  callbackId: string
  title: string
  hint: string
  ask: Mrkdwn
}

/** `/infra keys rotate` and `/infra keys revoke`: request a new token for an API key, or its deletion. */
function keyFeature(verb: Verb, { kind, change, callbackId, title, hint, ask, style, ...command }: KeyFeature) {
  return changeFeature<KeyInput, KeyFacts, 'keyId'>({
    kind,
    change,
    findings: keyFindings,
    form: {
      callbackId,
      title,
      fields: { keyId: pick(apiKeys, { label: 'API key', hint }) },
      filled: (_, { keyId, name }) => ({
        keyId: preset({ text: name === undefined ? keyId : labelOf(name), value: keyId, description: keyId }),
      }),
    },
    command: { words: `keys ${verb}`, group: 'Keys', usage: '[<key>]', ...command },
    read: async (app, { args }) => {
      const typed = args.join(' ')
      return {
        thing: apiKeys,
        typed,
        found: await findTyped(app, apiKeys, typed),
        inputOf: (keyId) => ({ keyId }),
        ask,
        byId: `keys ${verb} <id>`,
      }
    },
    item: { of: 'api-key', label: verb === 'rotate' ? 'Rotate…' : 'Revoke…', style },
  })
}

const formOpens = mrkdwn`Without a key: opens a form.`

export const rotateApiKey = keyFeature('rotate', {
  kind: 'key.rotate',
  change: rotateChange,
  callbackId: 'rotate-api-key',
  title: 'Rotate an API key',
  hint: 'After the approval, you press “Rotate key”. The old token stops working then, and the new one is shown once, only to you.',
  ask: mrkdwn`Which one should be rotated?`,
  summary: 'Request a new token for an API key',
  details: mrkdwn`The key by name or id. ${formOpens} After the approval, press *Rotate key*. The old token stops working, and the new one is shown once, only to you.`,
  examples: ['terraform', 'laptop of ada'],
})

export const revokeApiKey = keyFeature('revoke', {
  kind: 'key.revoke',
  change: revokeChange,
  callbackId: 'revoke-api-key',
  title: 'Revoke an API key',
  hint: 'Its token stops working as soon as the request is approved.',
  ask: mrkdwn`Which one should be revoked?`,
  summary: 'Request to revoke an API key',
  details: mrkdwn`The key by name or id. ${formOpens} After the approval, the key is deleted and its token stops working.`,
  examples: ['laptop of ada'],
  style: 'danger',
})

/** The change that revokes a key (vendor's OpenAPI document, "DELETE /auth/api_keys/{api_key_id}"). */
export function revokeChange(app: App): Change<KeyInput, KeyFacts> {
  return {
    ...membersOf(app, 'revoke'),
    kind: 'key.revoke',
    label: 'revoking an API key',
    run: async ({ keyId }, _, { onAnswer }) => {
      await ensureDeleted(app.account.apiKeys, keyId, { onAnswer })
      return 'done'
    },
    observe: async ({ keyId }, _, moment) => {
      if (!(await findApiKey(app.account.apiKeys, ({ id }) => id === keyId))) return { is: 'done' }
      if (moment.isUnsettled) return { is: 'unclear' }
      return { is: 'not-started', cause: { code: 'not-revoked' } satisfies KeyFinding }
    },
    doneSentence: (facts) => phrase`Revoked API key ${keyOf(facts)}. It no longer works.`,
  }
}

/**
 * The change that gives a key a new token (vendor's OpenAPI document, "PUT /auth/api_keys/{api_key_id}"). The old token stops working at once.
 * The requester takes the new one after the approval.
 */
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

/**
 * Detects a rotation by the last characters of the token. Deletes the key if nobody has seen its new token. After a report of not rotated, a
 * person may have rotated the key and may use the new token, so it is kept.
 */
async function observeRotation(app: App, { keyId }: KeyInput, { lastSlice }: KeyFacts, moment: Moment): Promise<Observation> {
  const failed = (cause: KeyFinding) => ({ is: 'failed' as const, cause })
  const key = await findApiKey(app.account.apiKeys, ({ id }) => id === keyId)
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
  const name = key.name && labelOf(key.name)
  const count = name ? all.filter((other) => other.id !== key.id && other.name && looksSame(labelOf(other.name), name)).length : 0
  if (name && count > 0) warnings.unshift({ code: 'same-name', name, lastSlice: key.tokenLastSlice, count })
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
  if (differ(approved.lastSlice, now.lastSlice)) return [{ code: 'token-changed' }]
  if (differ(approved.name, now.name)) return [{ code: 'key-name-changed', before: approved.name ?? '', now: now.name ?? '' }]
  if (differ(approved.readOnly, now.readOnly)) return [{ code: 'access-changed', before: accessOf(approved), now: accessOf(now) }]
  const [before, today] = [approved, now].map(({ allowedIps }) => allowedIps && JSON.stringify(allowedIps.toSorted()))
  return differ(before, today) ? [{ code: 'origins-changed', before: originsOf(approved), now: originsOf(now) }] : []
}

function differ<T>(approved: T | undefined, now: T | undefined): boolean {
  return approved !== undefined && now !== undefined && approved !== now
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
