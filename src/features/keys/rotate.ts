import { z } from 'zod'
import { type ApiKey, isOwnKey } from '../../account/objects.ts'
import { findInList, listNow, staysUnchecked } from '../../account/resource.ts'
import type { App } from '../../app.ts'
import type { ItemAction } from '../../buttons/clicks.ts'
import {
  accessFacts,
  accessWords,
  fullAccessFromEverywhere,
  isOpenToAll,
  keyPhrase,
  labelOf,
  longestLabel,
  originWords,
  parseKeyName,
  requesterOfKey,
  uniqueKeyName,
} from '../../domain/account.ts'
import {
  type Change,
  type Description,
  type Fact,
  type Issued,
  type IssuedFor,
  type Moment,
  type Observation,
  type OnAnswer,
  type Preflight,
  type PreflightOptions,
  RetractedBecause,
  retractedBecause,
} from '../../domain/change.ts'
import type { ChangeKind } from '../../domain/policy.ts'
import { formatDuration, moment, type Phrase, person, phrase, utcTime } from '../../domain/text.ts'
import { changeFeature } from '../../kit/change-feature.ts'
import { type Form, oneOf, pick } from '../../kit/change-form.ts'
import { finding, findings, namesakes } from '../../kit/findings.ts'
import { findTyped } from '../../kit/thing.ts'
import { apiKeys, keyNamesakes } from '../../kit/things.ts'
import { requestIdFor } from '../../life/submit.ts'
import { option } from '../../slack/blocks.ts'
import type { Command } from '../../slack/commands.ts'
import { Refusal } from '../../slack/errors.ts'
import { preset } from '../../slack/pickers.ts'
import { code, mrkdwn } from '../../slack/text.ts'
import { creationFindings, endFindings, observeCreation, readEnd, requireEndable, splitEnd, untilWords } from './end-fields.ts'
import { changeEnd, createKey, earlierNow, type KeyEnd, knownEnds, placeOf } from './ends.ts'

/** `oldEndsAt`: of a rotation that makes a new key, when the old one ends, in ms since 1970. `newKey`: what the name of the new one begins with. */
const KeyInput = z.object({ keyId: z.string(), oldEndsAt: z.number().optional(), newKey: z.string().optional() })
type KeyInput = z.infer<typeof KeyInput>

/** The key as the account API listed it. Members that could not be read are absent. */
const KeyFacts = z.object({
  keyId: z.string(),
  name: z.string().optional(),
  lastSlice: z.string().optional(),
  readOnly: z.boolean().optional(),
  allowedIps: z.array(z.string()).optional(),
  owner: z.string().optional(),
  /**
   * The old key, which a rotation keeps for a while, and the name of the new one. `endsAt`: when the old key, and then the new one, ends by itself.
   * `since`: that of its record, if Redis has it.
   */
  overlap: z
    .object({
      oldEndsAt: z.number(),
      newName: z.string().optional(),
      createdAt: z.number().optional(),
      endsAt: z.number().optional(),
      since: z.number().optional(),
    })
    .optional(),
})
export type KeyFacts = z.infer<typeof KeyFacts>

const Verb = z.enum(['rotate', 'revoke'])
type Verb = z.infer<typeof Verb>

const requestNew = 'Request a new key.'
const keyId = z.string()
const name = z.string()
const ms = z.number().optional()

export const keyFindings = findings({
  ...endFindings,
  ...creationFindings,
  'no-key': finding({ keyId, verb: Verb }, ({ keyId }) => phrase`No API key ${keyId} on the account.`, {
    next: ({ verb }) => (verb === 'rotate' ? requestNew : ''),
  }),
  'own-key': finding({ verb: Verb }, ({ verb }) => `Lockkeeper uses this key, so it can't ${verb} it.`, {
    next: ({ verb }) =>
      verb === 'rotate'
        ? "Lockkeeper's operators can rotate it in the dashboard and update INFRA_API_KEY."
        : "Lockkeeper's operators can revoke it in the dashboard, after they set another INFRA_API_KEY.",
  }),

  'perhaps-own-key': finding({ name }, ({ name }) => `whether ${labelOf(name)} is Lockkeeper's own key (the end of its token isn't shown)`),
  'key-unread': finding(
    { keyId },
    ({ keyId }) => `whether API key ${keyId} exists and isn't Lockkeeper's own (the account API didn't answer)`,
  ),

  'token-stops': finding({ verb: Verb }, ({ verb }) =>
    verb === 'rotate'
      ? 'The old token stops working when the requester presses Rotate key.'
      : 'The token stops working right after the approval.',
  ),
  /**
   * The times count back from the request. `usedAgoMs`: absent if the account shows no use. `changedAgoMs`: since its last change or rotation,
   * set only if the account shows no use of the key. `creator`: the Slack id of its requester.
   */
  'key-history': finding(
    { usedAgoMs: ms, ageMs: ms, changedAgoMs: ms, creator: z.string().optional() },
    ({ usedAgoMs, ageMs, changedAgoMs, creator }) => {
      const before = (ago: number) => `${formatDuration(ago)} ago`
      const since = changedAgoMs === undefined ? '' : ` since its last change or rotation, ${before(changedAgoMs)}`
      const used = usedAgoMs === undefined ? `No use shown${since}.` : `Last used ${before(usedAgoMs)}.`
      const created = ageMs === undefined ? 'Created at an unknown time' : `Created ${before(ageMs)}`
      return phrase`${[used]} ${[created]}${creator === undefined ? [] : phrase`, for ${person(creator)}`}.`
    },
  ),
  'full-access-from-everywhere': finding(fullAccessFromEverywhere),
  namesakes: namesakes(apiKeys),

  'not-made-here': finding("Lockkeeper didn't make this key, so it can't end it later.", {
    field: 'keep',
    next: 'Rotate it without keeping the old token. Or create a new key, and revoke this one later.',
  }),
  'label-too-long': finding(`A key's name may have ${longestLabel} characters before the bracket, and this one has more.`, {
    field: 'keep',
    next: "Rename it in the account's dashboard, or rotate it without keeping the old token.",
  }),
  'access-unknown': finding("The account API doesn't show this key's access, so a new key can't get the same.", {
    field: 'keep',
    next: 'Rotate it without keeping the old token.',
  }),
  'new-retracted': finding(
    { because: RetractedBecause },
    ({ because }) => `${retractedBecause[because]}, so Lockkeeper deleted the new key. The old key still works.`,
  ),

  'token-changed': finding('Another change rotated the key after this was requested.'),
  'key-changed': finding(
    { what: z.enum(['name', 'access', 'allowed addresses', 'end']), before: z.string(), now: z.string() },
    ({ what, before, now }) => phrase`The key's ${[what]} is ${now} now, not ${before}.`,
  ),

  'key-gone': finding(
    'The key is no longer on the account: Lockkeeper deleted it because nobody saw its new token, or another change did.',
    { next: requestNew },
  ),
  'not-rotated': finding("The key wasn't rotated. Its old token still works."),
  'not-revoked': finding("The key wasn't revoked. It is still on the account and still works."),
  'rotated-unseen': finding('Nobody saw the new token, so Lockkeeper deleted the key. Its old token no longer works either.', {
    next: requestNew,
  }),

  retracted: finding(
    { because: RetractedBecause },
    ({ because }) => `${retractedBecause[because]}, so Lockkeeper deleted the key. Its old token no longer works either.`,
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
  const isRotation = verb === 'rotate'
  return changeFeature<KeyInput, KeyFacts, 'keyId' | 'keep'>({
    kind,
    change,
    findings: keyFindings,
    form: {
      callbackId: `${verb}-api-key`,
      startsOnClick: isRotation || undefined,
      title,
      about: 'keyId',
      fields: { keyId: pick(apiKeys, { label: 'API key', hint }), ...(isRotation && { keep: oldToken }) } as Form<
        KeyInput,
        KeyFacts,
        'keyId' | 'keep'
      >['fields'],
      input: async ({ keyId, keep }, sent, app) => ({
        keyId,
        ...(isRotation && (await overlapOf(app, keep === 'none' ? undefined : keep, sent))),
      }),
      filled: ({ oldEndsAt }, { keyId, name }) => ({
        keep: oldEndsAt === undefined ? 'none' : `${[7 * 24, 24].find((hours) => oldEndsAt - Date.now() > (hours / 2) * 3_600_000) ?? 1}h`,
        keyId: preset({ text: name === undefined ? keyId : labelOf(name), value: keyId, description: keyId }),
      }),
    },
    command: {
      words: `keys ${verb}`,
      group: 'Keys',
      usage: isRotation ? '[<key> [keeping the old one for <time>]]' : '[<key>]',
      ...command,
    },
    read: async (app, { args, slashCommand }) => {
      const keeping = isRotation ? args.findLastIndex((word) => /^keep(?:ing)?$/i.test(word)) : -1
      const { args: words, end } = splitEnd(args.slice(Math.max(keeping, 0)))
      const isKept = keeping > 0 && end !== undefined && /^the old(?: one| key| token)?$/i.test(words.slice(1).join(' '))
      const typed = args.slice(0, isKept ? keeping : undefined).join(' ')
      if (keeping > 0 && !isKept)
        throw new Refusal('wrong-usage', mrkdwn`Not requested: say for how long, such as ${code('keeping the old one for 1d')}.`)
      const [found, overlap] = await Promise.all([findTyped(app, apiKeys, typed), overlapOf(app, isKept ? end : undefined, slashCommand)])
      const ask = mrkdwn`Which one should be ${verb}d?`
      return { thing: apiKeys, typed, found, inputOf: (keyId) => ({ keyId, ...overlap }), ask, byId: `keys ${verb} <id>` }
    },
    item: { of: 'api-key', label, style },
  })
}

const oldToken = oneOf(
  [
    option({ text: 'Stops working at once', value: 'none' }),
    ...[1, 24, 7 * 24].map((hours) => {
      const text = hours === 1 ? '1 hour' : hours === 24 ? '1 day' : '7 days'
      return option({
        text: `Works for ${text} more`,
        value: `${hours}h`,
        description: 'You get a new key, and the old one ends by itself',
      })
    }),
  ],
  { label: 'Old token' },
)

/** What a rotation adds to its input if it keeps the old key for a while. `end`: how long, as it was typed. */
async function overlapOf(
  app: App,
  end: string | undefined,
  { origin, deliveryKey }: { origin: { userId: string }; deliveryKey: string },
): Promise<Partial<KeyInput>> {
  if (end === undefined) return {}
  return { oldEndsAt: await readEnd(app, end, origin.userId), newKey: uniqueKeyName('', origin.userId, requestIdFor(deliveryKey)) }
}

export const rotateApiKey = keyFeature('rotate', {
  kind: 'key.rotate',
  change: rotateChange,
  title: 'Rotate an API key',
  label: 'Rotate…',
  hint: 'After the approval, you press “Rotate key”. The new token is shown once, only to you.',
  summary: 'Request a new token for an API key',
  details: mrkdwn`The key by name or id. Without a key: opens a form. After the approval, press *Rotate key*. The old token stops working, and the new one is shown once, only to you. *keeping the old one for 1d*: makes a new key with the same access, and ends the old one after a day.`,
  examples: ['terraform', 'ci-deploy keeping the old one for 1d'],
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
    send: async ({ keyId }, _, { onAnswer }) => {
      await app.account.apiKeys.delete(keyId, { onAnswer })
      // If this fails, a list shows that the key is gone.
      await changeEnd(app, keyId, () => 'none').catch(() => {})
      return 'done'
    },
    observe: async ({ keyId }, _, moment) => {
      if (!findInList(await app.account.apiKeys.list(), ({ id }) => id === keyId)) return { is: 'done' }
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
    offeredAtEnd: 'Rotate…',
    // The new key gets the end of the old one, which is not known before that is read.
    endOf: (_, { overlap }) => overlap && (overlap.newName === undefined ? 'unread' : { endsAt: overlap.endsAt }),
    handover: {
      label: 'Rotate key',
      warning: ({ oldEndsAt }) => (oldEndsAt === undefined ? 'The old token stops working at once.' : undefined),
      issue: async ({ keyId }, facts, options) => {
        if (facts.overlap) return issueBeside(app, facts, options)
        const { token } = await app.account.apiKeys.rotate(keyId, facts.name ?? '', { onAnswer: options.onAnswer })
        return {
          id: keyId,
          secret: token,
          heading: `The new token of API key ${members.subject(facts)}`,
          note: 'Shown once. Save it in your secrets manager now. The old token no longer works.',
        }
      },
      retract: ({ id }) => app.account.apiKeys.delete(id),
      retracted: (_, because, { overlap }): KeyFinding => ({ code: overlap ? 'new-retracted' : 'retracted', because }),
    },
    observe: (input, facts, moment) =>
      facts.overlap ? observeCreation(app, facts.overlap.newName ?? '', moment) : observeRotation(app, input, facts, moment),
    doneSentence: (facts) =>
      facts.overlap
        ? phrase`Created a new API key ${keyOf(facts)}. Its token was shown once. The old key ends ${moment(facts.overlap.oldEndsAt)}.`
        : phrase`Rotated API key ${keyOf(facts)}. Its new token was shown once. The old token no longer works.`,
  }
}

/** Makes a new key with the same access. The old one gets its end only once the request is done: a new token that nobody saw must not end it. */
async function issueBeside(app: App, facts: KeyFacts, options: { onAnswer: OnAnswer; request: IssuedFor }): Promise<Issued> {
  const { keyId, name = '', overlap, readOnly = true, allowedIps = [] } = facts
  const old = parseKeyName(name)
  if (!overlap?.newName || !old) throw new Error('the key was not read')
  const { label, requester, request: by } = old
  const now = await earlierNow(app)
  const { id: once, origin, cardTs: threadTs } = options.request
  const pending: KeyEnd = {
    ...{ keyId, label, requester, request: by, createdAt: overlap.createdAt ?? now, end: overlap.oldEndsAt, since: now },
    ...{ channelId: origin.channelId, threadTs, once, replaces: { end: overlap.endsAt, since: overlap.since } },
  }
  await changeEnd(app, placeOf(pending), () => pending)
  const { key, token } = await createKey(app, { name: overlap.newName, readOnly, allowedIps, endsAt: overlap.endsAt }, options)
  return {
    id: key.id,
    secret: token,
    heading: `The token of your new API key ${label}`,
    note: `Shown once. Save it in your secrets manager now. The old key works until ${utcTime(overlap.oldEndsAt)}.`,
  }
}

/** Deletes a rotated key whose new token nobody has seen. After a report of not rotated, a person may use the new token, so it is kept. */
async function observeRotation(app: App, { keyId }: KeyInput, { lastSlice }: KeyFacts, moment: Moment): Promise<Observation> {
  const failed = (cause: KeyFinding) => ({ is: 'failed' as const, cause })
  const key = findInList(await app.account.apiKeys.list(), ({ id }) => id === keyId)
  if (!key) return failed({ code: 'key-gone' })
  // Without the last characters of the token, a rotation cannot be detected.
  if (lastSlice === undefined || key.tokenLastSlice === undefined) return { is: 'unclear' }
  if (key.tokenLastSlice === lastSlice) {
    if (moment.isUnsettled) return { is: 'unclear' }
    return { is: 'not-started', cause: { code: 'not-rotated' } satisfies KeyFinding }
  }
  await app.account.apiKeys.delete(key.id)
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
  { keyId, oldEndsAt, newKey }: KeyInput,
  { signal, forRequest }: PreflightOptions,
): Promise<Preflight<KeyFacts, KeyInput>> {
  try {
    const list = await listNow(forRequest ? app.lists.apiKeys : undefined, () => app.account.apiKeys.list({ signal }))
    const key = findInList(list, ({ id }) => id === keyId)
    if (!key) return keyFindings.refuse({ code: 'no-key', keyId, verb })
    if (isOwnKey(key, app)) keyFindings.refuse({ code: 'own-key', verb })
    const overlap = oldEndsAt === undefined ? undefined : await overlapWith(app, key, { oldEndsAt, newKey })
    const perhapsOwn: KeyFinding = { code: 'perhaps-own-key', name: key.name ?? keyId }
    return {
      facts: {
        keyId: key.id,
        name: key.name,
        lastSlice: key.tokenLastSlice,
        readOnly: key.readOnly,
        allowedIps: key.allowedIps,
        owner: key.user?.email,
        overlap,
      },
      input: { keyId: key.id, oldEndsAt: overlap?.oldEndsAt, newKey },
      unchecked: key.tokenLastSlice === undefined ? [perhapsOwn] : [],
      warnings: warningsAbout(key, verb, { all: list.items, now: Date.now(), isKept: overlap !== undefined }),
      incomplete: false,
    }
  } catch (error) {
    if (!staysUnchecked(error)) throw error
    const unchecked: KeyFinding[] = [{ code: 'key-unread', keyId }]
    const warnings: KeyFinding[] = [{ code: 'token-stops', verb }]
    const overlap = oldEndsAt === undefined ? undefined : { oldEndsAt }
    return { facts: { keyId, overlap }, unchecked, warnings: overlap ? [] : warnings, incomplete: true }
  }
}

/** The old key ends no later than by itself, and the new one ends when the old one would have. */
async function overlapWith(
  app: App,
  key: ApiKey,
  { oldEndsAt, newKey = '' }: Pick<KeyInput, 'newKey'> & { oldEndsAt: number },
): Promise<KeyFacts['overlap']> {
  requireEndable(app, oldEndsAt, keyFindings.refuse)
  if (requesterOfKey(key) === undefined) keyFindings.refuse({ code: 'not-made-here' })
  if ([...labelOf(key.name ?? '')].length > longestLabel) keyFindings.refuse({ code: 'label-too-long' })
  if (key.readOnly === undefined || key.allowedIps === undefined) keyFindings.refuse({ code: 'access-unknown' })
  const recorded = (await knownEnds(app)).get(key.id)
  // If the record was lost, the name still says it.
  const endsAt = recorded?.end ?? parseKeyName(key.name)?.end
  if (endsAt !== undefined) requireEndable(app, endsAt, keyFindings.refuse)
  return {
    oldEndsAt: Math.min(oldEndsAt, endsAt ?? oldEndsAt),
    newName: `${labelOf(key.name ?? '')}${newKey}`,
    createdAt: Date.parse(key.createdAt ?? '') || undefined,
    endsAt,
    since: recorded?.since,
  }
}

/** Lists what approvers should know about a key. `all`: the keys of the account. `now`: ms since 1970. */
function warningsAbout(key: ApiKey, verb: Verb, { all, now, isKept }: { all: ApiKey[]; now: number; isKept: boolean }): KeyFinding[] {
  const warnings: KeyFinding[] = [...(isKept ? [] : [{ code: 'token-stops' as const, verb }]), historyOf(key, now)]
  if (key.name) warnings.unshift(...keyNamesakes(all, labelOf(key.name), key.id))
  if (verb === 'rotate' && isOpenToAll(key)) warnings.push({ code: 'full-access-from-everywhere' })
  return warnings
}

function historyOf(key: ApiKey, now: number): KeyFinding {
  const [usedAgoMs, ageMs, changedAgoMs] = [key.lastUsedAt, key.createdAt, key.updatedAt].map((at) => {
    const ago = now - Date.parse(at ?? '')
    return Number.isNaN(ago) ? undefined : Math.max(0, ago)
  })
  // After a rotation the account may show no use of a key that was in use until then.
  const isChanged = usedAgoMs === undefined && (ageMs === undefined || ageMs - (changedAgoMs ?? ageMs) > 60_000)
  return { code: 'key-history', usedAgoMs, ageMs, changedAgoMs: isChanged ? changedAgoMs : undefined, creator: requesterOfKey(key) }
}

/** Finds what has changed since the approval, such as a rotation by somebody else. Compares only what both reads show. */
function differences(approved: KeyFacts, now: KeyFacts): KeyFinding[] {
  const differ = <T>(of: (facts: KeyFacts) => T | undefined) =>
    of(approved) !== undefined && of(now) !== undefined && of(approved) !== of(now)
  if (differ(({ lastSlice }) => lastSlice)) return [{ code: 'token-changed' }]
  const changed = (what: 'name' | 'access' | 'allowed addresses' | 'end', words: (facts: KeyFacts) => string): KeyFinding[] => [
    { code: 'key-changed', what, before: words(approved), now: words(now) },
  ]
  if (differ(({ name }) => name)) return changed('name', ({ name = '' }) => name)
  if (differ(({ readOnly }) => readOnly)) return changed('access', accessWords)
  const endOf = ({ overlap }: KeyFacts) => (overlap?.newName === undefined ? undefined : (overlap.endsAt ?? 'never'))
  if (differ(endOf)) return changed('end', ({ overlap }) => (overlap?.endsAt === undefined ? 'never' : utcTime(overlap.endsAt)))
  return differ(({ allowedIps }) => allowedIps && JSON.stringify(allowedIps.toSorted())) ? changed('allowed addresses', originWords) : []
}

/** A rotation replaces the token, so its message goes on showing the end of the old one. */
function describe(verb: Verb, facts: KeyFacts): Description {
  const { keyId, name, lastSlice, owner, overlap } = facts
  const requester = requesterOfKey({ name })
  const whom: Fact[] = requester === undefined ? [] : [{ label: 'For', value: requester, isPerson: true }]
  return {
    title: phrase`${[verb === 'rotate' ? 'Rotate' : 'Revoke']} API key ${keyOf(facts)}${overlap ? phrase`, keeping the old one${untilWords(overlap.oldEndsAt)}` : []}`,
    facts: [
      ...whom,
      { label: verb === 'rotate' ? 'Old token ends in' : 'Token ends in', value: lastSlice ?? 'unknown' },
      ...accessFacts(facts, { isWarned: verb === 'rotate' }),
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

/** Names the key as people know it: `ci-deploy, for @Ada`. Without a name it is the id. */
function keyOf({ keyId, name }: KeyFacts): Phrase {
  return name === undefined ? phrase`${keyId}` : keyPhrase(name)
}
