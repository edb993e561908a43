import type { ModalView, PlainTextOption } from '@slack/web-api'
import { z } from 'zod'
import { type AccountApi, ensureDeleted, findApiKey } from '../account/client.ts'
import type { Inventory } from '../account/inventory.ts'
import { asFarAsRead, findInList, leftOutOf, listNow, staysUnchecked, throwIfOld } from '../account/resource.ts'
import {
  type ApiKey,
  findKeys,
  fullAccessFromEverywhere,
  keyPhrase,
  labelOf,
  looksSame,
  type OwnLastSlices,
  ownVariableOf,
  requesterOfKey,
} from '../domain/account.ts'
import {
  type Change,
  explainer,
  type Fact,
  type Moment,
  type Observation,
  type Preflight,
  type PreflightOptions,
  RetractedBecause,
  retractedBecause,
  type Words,
  wordsFrom,
} from '../domain/change.ts'
import { CheckFailed, type Missing, UnknownName } from '../domain/errors.ts'
import { formatAge, type Phrase, person, phrase } from '../domain/text.ts'
import { reasonField } from '../messages/forms.ts'
import type { ItemAction } from '../requests/clicks.ts'
import { type CommandSubmit, type Filling, submitFromCommand, submitFromForm } from '../requests/forms.ts'
import type { Submit } from '../requests/submit.ts'
import { input, modal, problemBlocks, reasonIn } from '../slack/blocks.ts'
import type { Command, CommandCall } from '../slack/commands.ts'
import { Refusal } from '../slack/errors.ts'
import { wholeCommand, withSuggestions } from '../slack/help.ts'
import type { Choices, Submission, SubmissionAnswer } from '../slack/interactions.ts'
import { type Candidate, candidatesOf, externalSelect, isChoice, keepChoice, offer, preset } from '../slack/pickers.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn, truncate } from '../slack/text.ts'
import type { Feature, FeatureDefinition } from './feature.ts'

/** The keys of one name that are listed with their commands. */
const mostListed = 10

/**
 * Returns the id of the key that a person typed. Throws UnknownName if no key fits. If more than one does, throws a Refusal with the whole command
 * for each. `commandFor`: the command with this id.
 */
export function chooseKey(keys: ApiKey[], typed: string, commandFor: (id: string) => Mrkdwn): string {
  const [only, ...others] = findKeys(keys, typed)
  if (!only) throwIfOld(leftOutOf(keys))
  if (!only) throw new UnknownName('API key', typed)
  if (others.length === 0) return only.id
  const all = [only, ...others]
  const lines = all
    .slice(0, mostListed)
    .map(({ id, name, tokenLastSlice = '?' }) => mrkdwn`•  Token ends in ${code(tokenLastSlice)} (${name ?? id}): ${commandFor(id)}`)
  const more = all.length > mostListed ? [mrkdwn`${all.length - mostListed} more aren't listed.`] : []
  const first = mrkdwn`${all.length} API keys are called ${code(truncate(typed, 80, 'plain'))}. Nothing was requested. Copy the command for the one that you mean:`
  throw new Refusal(joinMrkdwn([first, ...lines, ...more], '\n'))
}

/** Offers the keys, except Lockkeeper's own, which it refuses to change. */
export function keyChoices(keys: ApiKey[], typed: string, { own, missing }: { own: OwnLastSlices; missing?: Missing }): Choices {
  const candidates = [...keyCandidates(keys)].filter(([key]) => !ownVariableOf(key, own))
  return offer(
    candidates.map(([, candidate]) => candidate),
    typed,
    missing,
  )
}

const keyCandidates = candidatesOf(keyCandidate)

/** Several keys can have the same name, so the small print has the end of the token and the id. */
function keyCandidate({ id, name, tokenLastSlice, user }: ApiKey): Candidate {
  const parts = [tokenLastSlice === undefined ? undefined : `ends in ${tokenLastSlice}`, user?.email, name === undefined ? undefined : id]
  return {
    value: id,
    text: name === undefined ? id : labelOf(name),
    description: parts.filter((part) => part !== undefined).join('  ·  '),
    terms: [name],
  }
}

const between = { before: z.string(), now: z.string() }

/** Everything that can prevent a rotation or a revocation, stay unchecked before it, or end it. */
export const KeyFinding = z.discriminatedUnion('code', [
  /** `name`: from an earlier request. Absent if the key was only named by its id. */
  z.object({ code: z.literal('no-key'), keyId: z.string(), name: z.string().optional(), verb: z.enum(['rotate', 'revoke']).optional() }),
  z.object({ code: z.literal('own-key'), verb: z.enum(['rotate', 'revoke']), variable: z.enum(['INFRA_API_KEY', 'INFRA_READ_KEY']) }),

  z.object({ code: z.literal('perhaps-own-key'), name: z.string() }),
  z.object({ code: z.literal('key-unread'), keyId: z.string() }),

  z.object({ code: z.literal('token-stops'), verb: z.enum(['rotate', 'revoke']) }),
  /** Both times count back from the request. `usedAgoMs`: absent if the account shows no use. `creator`: the Slack id of its requester. */
  z.object({
    code: z.literal('key-history'),
    usedAgoMs: z.number().optional(),
    ageMs: z.number().optional(),
    /** Since its last change or rotation. Set only if the account shows no use of the key. */
    changedAgoMs: z.number().optional(),
    creator: z.string().optional(),
  }),
  z.object({ code: z.literal('full-access-from-everywhere') }),
  /** `count`: the number of other keys that people know by this name. */
  z.object({ code: z.literal('same-name'), name: z.string(), lastSlice: z.string().optional(), count: z.number() }),

  z.object({ code: z.literal('token-changed') }),
  z.object({ code: z.literal('key-name-changed'), ...between }),
  z.object({ code: z.literal('access-changed'), ...between }),
  z.object({ code: z.literal('origins-changed'), ...between }),

  z.object({ code: z.literal('key-gone') }),
  z.object({ code: z.literal('not-rotated') }),
  z.object({ code: z.literal('not-revoked') }),
  z.object({ code: z.literal('rotated-unseen') }),
  z.object({ code: z.literal('retracted'), because: RetractedBecause }),
])
export type KeyFinding = z.infer<typeof KeyFinding>

/** Throws CheckFailed with the finding and its words. */
export function refuseKeyChange(finding: KeyFinding): never {
  throw new CheckFailed(finding, keyWords(finding))
}

const requestNew = 'Request a new key.'

/** Puts a finding into words: a phrase after *Not checked:* for what stays unchecked, and a sentence for everything else. */
export function keyWords(finding: KeyFinding): Words {
  if (finding.code === 'key-history') return wordsFrom(historyWords(finding))
  if (finding.code === 'same-name') return wordsFrom(sameNameWords(finding))
  if (finding.code === 'no-key') return noKeyWords(finding)
  const next = nextAfter(finding)
  return { why: sentenceOf(finding), next }
}

/** Says what to do if the same request would fail again. Returns undefined if it may succeed later. */
function nextAfter({ code }: KeyFinding): string | undefined {
  switch (code) {
    case 'key-gone':
    case 'rotated-unseen':
    case 'retracted':
      return requestNew
    case 'own-key':
      return 'The people who run Lockkeeper can do that.'
    default:
      return undefined
  }
}

function historyWords({ usedAgoMs, ageMs, changedAgoMs, creator }: Extract<KeyFinding, { code: 'key-history' }>): Phrase {
  const owner = creator === undefined ? [] : phrase`, for ${person(creator)}`
  if (usedAgoMs !== undefined && ageMs !== undefined)
    return phrase`Last used ${[formatAge(usedAgoMs)]} and created ${[before(ageMs)]}${owner}.`
  const since = changedAgoMs === undefined ? '' : ` since it was last changed or rotated, ${before(changedAgoMs)}`
  const used = usedAgoMs === undefined ? [`The account shows no use of it${since}.`] : phrase`Last used ${[before(usedAgoMs)]}.`
  const created = ageMs === undefined ? phrase`Created at an unknown time` : phrase`Created ${[before(ageMs)]}`
  return phrase`${used} ${created}${owner}.`
}

/** People may read it hours later, so it says what the time counts back from. */
function before(ms: number): string {
  return `${formatAge(ms)} before this request`
}

function sameNameWords({ name, lastSlice, count }: Extract<KeyFinding, { code: 'same-name' }>): Phrase {
  const own = lastSlice === undefined ? [] : phrase` This one's token ends in ${lastSlice}.`
  return phrase`${count + 1} API keys are called ${name}.${own}`
}

function noKeyWords({ keyId, name, verb }: Extract<KeyFinding, { code: 'no-key' }>): Words {
  if (name === undefined || verb === undefined)
    return { ...wordsFrom(phrase`No API key ${keyId} on the account.`), next: 'There is nothing left to do.' }
  return verb === 'revoke'
    ? { ...wordsFrom(phrase`API key ${labelOf(name)} was already revoked.`), next: 'There is nothing left to do.' }
    : { ...wordsFrom(phrase`API key ${labelOf(name)} was revoked, so it can't be rotated.`), next: requestNew }
}

function sentenceOf(finding: Exclude<KeyFinding, { code: 'key-history' | 'same-name' | 'no-key' }>): string {
  switch (finding.code) {
    case 'own-key':
      return finding.verb === 'rotate'
        ? `Lockkeeper uses this key, so it can't rotate it. Rotate it in the dashboard and update ${finding.variable}.`
        : `Lockkeeper uses this key, so it can't revoke it. Set another ${finding.variable}, then revoke this key in the dashboard.`
    case 'perhaps-own-key':
      return `whether ${labelOf(finding.name)} is Lockkeeper's own key (the account API doesn't show the end of its token)`
    case 'key-unread':
      return `whether API key ${finding.keyId} exists and isn't Lockkeeper's own (the account API didn't answer)`
    case 'token-stops':
      return finding.verb === 'rotate'
        ? 'The old token stops working as soon as the requester presses Rotate key.'
        : 'The token stops working when the key is revoked, right after the approval.'
    case 'full-access-from-everywhere':
      return fullAccessFromEverywhere
    case 'token-changed':
      return 'Another change rotated the key after this was requested.'
    case 'key-name-changed':
      return `The key was called ${finding.before} when this was requested, and is called ${finding.now} now.`
    case 'access-changed':
      return `The key's access was ${finding.before} when this was requested, and is ${finding.now} now.`
    case 'origins-changed':
      return `The key was usable from ${finding.before} when this was requested, and is usable from ${finding.now} now.`
    case 'key-gone':
      return 'The key is no longer on the account. Either Lockkeeper deleted it because nobody saw its new token, or another change deleted it.'
    case 'not-rotated':
      return "The key wasn't rotated. Its old token still works."
    case 'not-revoked':
      return "The key wasn't revoked. It is still on the account and still works."
    case 'rotated-unseen':
      return 'The key was rotated, so its old token no longer works. Nobody saw the new token, so Lockkeeper deleted the key.'
    case 'retracted':
      return `The key was rotated, so its old token no longer works. ${retractedBecause[finding.because]}, so Lockkeeper deleted the key at once.`
  }
}

/**
 * Lists what approvers should know about a key: how many others have its name, that its token stops working, whether it is in use, its age, its requester, and what its
 * new token could do. `namesakes`: the number of those others. `now`: ms since 1970.
 */
export function warningsAbout(
  key: ApiKey,
  verb: 'rotate' | 'revoke',
  { namesakes, now }: { namesakes: number; now: number },
): KeyFinding[] {
  const isOpen = key.readOnly === false && key.allowedIps?.length === 0
  return [
    ...(namesakes > 0 && key.name !== undefined
      ? [{ code: 'same-name' as const, name: labelOf(key.name), lastSlice: key.tokenLastSlice, count: namesakes }]
      : []),
    tokenStops(verb),
    historyOf(key, now),
    ...(verb === 'rotate' && isOpen ? [{ code: 'full-access-from-everywhere' as const }] : []),
  ]
}

/** Warns approvers that the token stops working, even if the key could not be read. */
export function tokenStops(verb: 'rotate' | 'revoke'): KeyFinding {
  return { code: 'token-stops', verb }
}

function historyOf(key: ApiKey, now: number): KeyFinding {
  const [usedAgoMs, ageMs, changedAgoMs] = [key.lastUsedAt, key.createdAt, key.updatedAt].map((at) => agoMs(at, now))
  const creator = requesterOfKey(key)
  return {
    code: 'key-history',
    usedAgoMs,
    ageMs,
    // After a rotation the account may show no use of a key that was in use until then.
    ...(usedAgoMs === undefined && changedAgoMs !== undefined && changedAgoMs !== ageMs ? { changedAgoMs } : {}),
    creator,
  }
}

function agoMs(at: string | undefined, now: number): number | undefined {
  const ms = now - Date.parse(at ?? '')
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

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
    allowedIps: key.allowedIps,
    name: key.name,
    lastSlice: key.tokenLastSlice,
    readOnly: key.readOnly,
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

export const keyPicker = 'api-key'

/** The callback ids of the two forms. */
export const callbackIds = { rotate: 'rotate-api-key', revoke: 'revoke-api-key' } as const
export type Verb = keyof typeof callbackIds

const titles = { rotate: 'Rotate an API key', revoke: 'Revoke an API key' } as const
const hints = {
  rotate: 'After the approval, you press “Rotate key”. The old token stops working then, and the new one is shown once, only to you.',
  revoke: 'Its token stops working as soon as the request is approved.',
} as const

interface KeyChoiceView {
  metadata: string
  apiKey?: PlainTextOption | undefined
  reason?: string | undefined
  /** Why the form was refused. Shown on top, above what was entered. */
  problem?: Mrkdwn | undefined
}

export function keyChoiceModal(verb: Verb, { metadata, apiKey, reason, problem }: KeyChoiceView): ModalView {
  return modal({
    callbackId: callbackIds[verb],
    title: titles[verb],
    submit: 'Request approval',
    metadata,
    blocks: [
      ...problemBlocks(problem),
      input({
        blockId: keyPicker,
        label: 'API key',
        hint: hints[verb],
        element: externalSelect({ actionId: keyPicker, placeholder: 'Choose an API key', initialOption: apiKey }),
      }),
      ...reasonField(metadata, reason),
    ],
  })
}

/** Creates the form of a rotation or a revocation. `filledForm` shows it filled, and `submitForm` requests the change. */
export function createKeyForm(submit: Submit, verb: Verb, change: Change<KeyInput, KeyFacts>) {
  function filledForm(metadata: string, { facts, reason, problem }: Filling): ModalView {
    const { keyId, name } = KeyFacts.parse(facts)
    const apiKey = preset({ text: name === undefined ? keyId : labelOf(name), value: keyId, description: keyId })
    return keyChoiceModal(verb, { metadata, apiKey, reason, problem })
  }

  async function submitForm(submission: Submission): Promise<SubmissionAnswer> {
    const { metadata, values, chosen } = submission
    const keyId = values[keyPicker]
    const reason = reasonIn(values)
    const again = (problem: Mrkdwn) => keyChoiceModal(verb, { metadata, apiKey: keepChoice(chosen[keyPicker]), reason, problem })
    if (!isChoice(keyId)) return { is: 'refused', problems: { [keyPicker]: mrkdwn`Choose an API key.` }, again }
    return submitFromForm(submit, submission, { change, input: { keyId }, reason, blockId: keyPicker, again })
  }

  return { filledForm, submitForm }
}

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
      if (moment.isUnsettled) return { is: 'unclear' }
      return { is: 'not-started', cause: { code: 'not-revoked' } satisfies KeyFinding }
    },
    doneSentence: (facts) => phrase`Revoked API key ${keyOf(facts)}. It no longer works.`,
  }
}

/**
 * Creates the change that gives a key a new token (vendor's OpenAPI document, "PUT /auth/api_keys/{api_key_id}"). The old token stops
 * working at once. The requester takes the new one after the approval.
 */
export function createRotateChange(parts: KeyChangeParts): Change<KeyInput, KeyFacts> {
  const { apiKeys } = parts.accountApi

  /**
   * Detects a rotation by the last characters of the token. Deletes the key if nobody has seen its new token.
   */
  async function observe(input: KeyInput, facts: KeyFacts, moment: Moment): Promise<Observation> {
    const key = await findApiKey(apiKeys, ({ id }) => id === input.keyId)
    if (!key) return failed({ code: 'key-gone' })
    // Without the last characters of the token, a rotation cannot be detected.
    if (facts.lastSlice === undefined || key.tokenLastSlice === undefined) return { is: 'unclear' }
    if (key.tokenLastSlice === facts.lastSlice) {
      if (moment.isUnsettled) return { is: 'unclear' }
      return { is: 'not-started', cause: { code: 'not-rotated' } satisfies KeyFinding }
    }
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

interface RotateRevokeParts extends CommandSubmit {
  accountApi: Pick<AccountApi, 'apiKeys'>
  inventory: Pick<Inventory, 'apiKeys' | 'prefetch'>
  ownLastSlices: OwnLastSlices
}

/** `/infra keys rotate` and `/infra keys revoke`: request a new token for an API key, or its deletion. */
export const rotateRevokeApiKey = { kinds: ['key.rotate', 'key.revoke'], create } satisfies FeatureDefinition

function create({ accountApi, inventory, submit, openForm, ownLastSlices }: RotateRevokeParts): Feature {
  const rotate = createRotateChange({ accountApi, copies: inventory, ownLastSlices })
  const revoke = createRevokeChange({ accountApi, copies: inventory, ownLastSlices })
  const forms = { rotate: createKeyForm(submit, 'rotate', rotate), revoke: createKeyForm(submit, 'revoke', revoke) }

  async function run(verb: Verb, change: Change<KeyInput, KeyFacts>, call: CommandCall): Promise<void> {
    const keys = await inventory.apiKeys()
    const names = async () => keys.map(({ name }) => name && labelOf(name))
    const { origin, reason } = call.slashCommand
    const commandFor = (id: string) => wholeCommand(origin.command, { words: `keys ${verb}`, args: [id], reason })
    const chosen = (async () => chooseKey(keys, call.args.join(' '), commandFor))()
    const keyId = await withSuggestions(chosen, { 'API key': { names, list: `${origin.command} keys` } })
    await submitFromCommand({ submit, openForm }, call, { change, input: { keyId }, form: forms[verb].filledForm })
  }

  function command(verb: Verb, change: Change<KeyInput, KeyFacts>, words: Pick<Command, 'summary' | 'details' | 'examples'>): Command {
    return {
      words: `keys ${verb}`,
      group: 'Keys',
      usage: '[<key>]',
      ...words,
      need: change.kind,
      form: (metadata, { problem }) => keyChoiceModal(verb, { metadata, problem }),
      prepare: () => inventory.prefetch('apiKeys'),
      run: (call) => run(verb, change, call),
    }
  }

  return {
    commands: [
      command('rotate', rotate, {
        summary: 'Request a new token for an API key',
        details: mrkdwn`The key by name or id. ${keyFormOpens} After the approval, press *Rotate key*. The old token stops working, and the new one is shown once, only to you.`,
        examples: ['terraform', 'laptop of ada'],
      }),
      command('revoke', revoke, {
        summary: 'Request to revoke an API key',
        details: mrkdwn`The key by name or id. ${keyFormOpens} After the approval, the key is deleted and its token stops working.`,
        examples: ['laptop of ada'],
      }),
    ],
    changes: [rotate, revoke],
    forms: { [rotate.kind]: forms.rotate.filledForm, [revoke.kind]: forms.revoke.filledForm },
    itemActions: [
      { of: 'api-key', kind: rotate.kind, label: 'Rotate…', form: formFor('rotate') },
      { of: 'api-key', kind: revoke.kind, label: 'Revoke…', style: 'danger', form: formFor('revoke') },
    ],
    submissions: {
      [callbackIds.rotate]: forms.rotate.submitForm,
      [callbackIds.revoke]: forms.revoke.submitForm,
    },
    options: {
      [keyPicker]: async ({ typed }) => {
        const { items, ...missing } = await asFarAsRead(inventory.apiKeys())
        return keyChoices(items, typed, { own: ownLastSlices, missing })
      },
    },
  }
}

/** Renders the form for one key, named as in a list. */
function formFor(verb: Verb): ItemAction['form'] {
  return (metadata, { id, text }) => keyChoiceModal(verb, { metadata, apiKey: preset({ text, value: id }) })
}

const keyFormOpens: Mrkdwn = mrkdwn`Without a key: opens a form.`
