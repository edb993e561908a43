import { z } from 'zod'
import type { ApiKey } from '../../account/objects.ts'
import { findInList } from '../../account/resource.ts'
import type { App } from '../../app.ts'
import {
  fullAccessFromEverywhere,
  isOpenToAll,
  keyPhrase,
  labelOf,
  longestLabel,
  parseKeyName,
  requesterOfKey,
  uniqueKeyName,
} from '../../domain/account.ts'
import {
  type Change,
  type Description,
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
import { NewKeyEnd } from '../../domain/key-ends.ts'
import { moment, person, phrase, utcTime } from '../../domain/text.ts'
import { changeFeature } from '../../kit/change-feature.ts'
import { oneOf, pick } from '../../kit/change-form.ts'
import { finding, findings } from '../../kit/findings.ts'
import { changeEnd, createKey, earlierNow, fixedEnd, type KeyEnd, placeOf, shownEnds } from '../../kit/key-ends.ts'
import { shownFacts } from '../../kit/listed.ts'
import { findTyped } from '../../kit/thing.ts'
import { requestIdFor } from '../../life/submit.ts'
import { option } from '../../slack/blocks.ts'
import { Refusal } from '../../slack/errors.ts'
import { code, mrkdwn } from '../../slack/text.ts'
import {
  creationFindings,
  endFindings,
  endsWords,
  lastsWords,
  observeCreation,
  readNewEnd,
  requireEndable,
  splitEnd,
} from './end-fields.ts'
import {
  describeKey,
  differences,
  KeyFacts,
  keyOf,
  keysWithEnds,
  markWords,
  othersWork,
  pickedKey,
  preflightKey,
  requestNew,
  resourceOf,
  sharedFindings,
  subjectOf,
} from './existing.ts'

/** `oldEndsAt`: of a rotation that makes a new key, when the old one ends. `newKey`: what the name of the new one ends with, and says whose its token is. */
const Rotation = z.object({ keyId: z.string(), oldEndsAt: NewKeyEnd.optional(), newKey: z.string().optional() })
type Rotation = z.infer<typeof Rotation>

const RotationFacts = KeyFacts.extend({
  /**
   * The old key, which a rotation keeps for a while, and the name of the new one. `endsAt`: when the old key, and then the new one, ends by itself.
   * `since`: that of its record, if Redis has it.
   */
  overlap: z
    .object({
      oldEndsAt: NewKeyEnd,
      newName: z.string().optional(),
      createdAt: z.number().optional(),
      endsAt: z.number().optional(),
      since: z.number().optional(),
    })
    .optional(),
  /** Who sees the new token, if the key was another person's until then. */
  holder: z.object({ now: z.string(), before: z.string() }).optional(),
})
export type RotationFacts = z.infer<typeof RotationFacts>

export const rotationFindings = findings({
  ...sharedFindings,
  ...endFindings,
  ...creationFindings,
  'full-access-from-everywhere': finding(fullAccessFromEverywhere),

  'other-holder': finding({ by: z.string(), creator: z.string(), isNewKey: z.boolean() }, ({ by, creator, isNewKey }) =>
    isNewKey
      ? phrase`The new key is ${person(by)}'s: only ${person(by)} sees its token. The old one is ${person(creator)}'s.`
      : phrase`Only ${person(by)} sees the new token, although the key is ${person(creator)}'s.`,
  ),
  'kept-shorter': finding(
    { asked: NewKeyEnd, endsAt: z.number() },
    ({ asked, endsAt }) =>
      phrase`The old key was to be kept${lastsWords(asked)}, but it ends ${moment(endsAt)}, and so does the new one. To keep the new one longer, extend it once it is created.`,
    { isNote: () => true },
  ),
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

  'key-gone': finding(
    'The key is no longer on the account: Lockkeeper deleted it because nobody saw its new token, or another change did.',
    { next: requestNew },
  ),
  'not-rotated': finding("The key wasn't rotated. Its old token still works."),
  'rotated-unseen': finding('Nobody saw the new token, so Lockkeeper deleted the key. Both tokens are invalid.', {
    next: requestNew,
  }),

  retracted: finding(
    { because: RetractedBecause },
    ({ because }) => `${retractedBecause[because]}, so Lockkeeper deleted the key. Both tokens are invalid.`,
    { next: requestNew },
  ),
})
type RotationFinding = z.infer<typeof rotationFindings.schema>

export const rotateApiKey = changeFeature<Rotation, RotationFacts, 'keyId' | 'keep'>({
  kind: 'key.rotate',
  change: rotateChange,
  findings: rotationFindings,
  form: {
    callbackId: 'rotate-api-key',
    takesNoStart: true,
    title: 'Rotate an API key',
    about: 'keyId',
    fields: {
      keyId: pick(keysWithEnds, {
        label: 'API key',
        hint: 'After the approval, you press “Rotate key”. The new token is shown once, only to you.',
      }),
      keep: oneOf(
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
      ),
    },
    input: async ({ keyId, keep }, sent, app) => ({ keyId, ...(await newTokenOf(app, keep === 'none' ? undefined : keep, sent)) }),
    filled: ({ oldEndsAt }, facts) => ({ keep: keptAs(oldEndsAt), keyId: pickedKey(facts) }),
  },
  command: {
    words: 'keys rotate',
    group: 'Keys',
    usage: '[<key> [keeping the old one for <time>]]',
    summary: 'Request a new token for an API key',
    details: mrkdwn`The key by name or id. Without a key: opens a form. After the approval, press *Rotate key*. The old token stops working, and the new one is shown once, only to you. *keeping the old one for 1d*: makes a new key with the same access, and ends the old one after a day.`,
    examples: ['terraform', 'ci-deploy keeping the old one for 1d'],
    isLateTime: (typed, args) =>
      /^keep(?:ing)? the old(?: one| key| token)? (?:for|until) \S/i.test(typed) && !args.some((word) => /^keep(?:ing)?$/i.test(word)),
  },
  read: async (app, { args, slashCommand }) => {
    const keeping = args.findLastIndex((word) => /^keep(?:ing)?$/i.test(word))
    const { args: words, end } = splitEnd(args.slice(Math.max(keeping, 0)))
    const isKept = keeping > 0 && end !== undefined && /^the old(?: one| key| token)?$/i.test(words.slice(1).join(' '))
    if (keeping > 0 && !isKept)
      throw new Refusal('wrong-usage', mrkdwn`Not requested: say for how long, such as ${code('keeping the old one for 1d')}.`)
    const typed = args.slice(0, isKept ? keeping : undefined).join(' ')
    const [found, newToken] = await Promise.all([
      findTyped(app, keysWithEnds, typed),
      newTokenOf(app, isKept ? end : undefined, slashCommand),
    ])
    const ask = mrkdwn`Which one should be rotated?`
    return { thing: keysWithEnds, typed, found, inputOf: (keyId) => ({ keyId, ...newToken }), ask, byId: 'keys rotate <id>' }
  },
  item: { of: 'api-key', label: 'Rotate…' },
})

/** What a rotation adds to its input: whose the new token is, and when the old key ends if it keeps it for a while. `end`: how long, as it was typed. */
async function newTokenOf(
  app: App,
  end: string | undefined,
  { origin, deliveryKey }: { origin: { userId: string }; deliveryKey: string },
): Promise<Partial<Rotation>> {
  const newKey = uniqueKeyName('', origin.userId, requestIdFor(deliveryKey))
  return end === undefined ? { newKey } : { newKey, oldEndsAt: await readNewEnd(app, end, origin.userId) }
}

/** The choice in the form that comes next to it. */
function keptAs(oldEndsAt: NewKeyEnd | undefined): string {
  if (oldEndsAt === undefined) return 'none'
  const ms = typeof oldEndsAt === 'number' ? oldEndsAt - Date.now() : oldEndsAt.afterMs
  return `${[7 * 24, 24].find((hours) => ms > (hours / 2) * 3_600_000) ?? 1}h`
}

/** The old token stops working at once (vendor's OpenAPI document, "PUT /auth/api_keys/{api_key_id}"). */
export function rotateChange(app: App): Change<Rotation, RotationFacts> {
  return {
    kind: 'key.rotate',
    label: 'rotating an API key',
    input: Rotation,
    facts: RotationFacts,
    resource: resourceOf,
    subject: subjectOf,
    preflight: (input, options) => preflight(app, input, options),
    differences: firstDifference,
    explain: rotationFindings.explain,
    describe,
    tooLateAt: (facts) => shownFacts(facts).ends?.end,
    offeredAtEnd: 'Rotate…',
    // The new key gets the end of the old one, which is not known before that is read.
    endOf: (_, { overlap }) => overlap && (overlap.newName === undefined ? 'unread' : { endsAt: overlap.endsAt }),
    handover: {
      label: 'Rotate key',
      warning: ({ oldEndsAt }) => (oldEndsAt === undefined ? 'The old token stops working at once.' : undefined),
      issue: async ({ keyId }, facts, options) => {
        if (facts.overlap) return issueBeside(app, facts, options)
        const ends = await shownEnds(app).catch(() => undefined)
        const { token } = await app.account.apiKeys.rotate(keyId, facts.name ?? '', { onAnswer: options.onAnswer })
        return {
          id: keyId,
          secret: token,
          heading: `The new token of API key ${subjectOf(facts)}`,
          note: ['Shown once. Save it in your secrets manager now. The old token no longer works.'],
          endsAt: ends?.get(keyId)?.end,
        }
      },
      retract: ({ id }) => app.account.apiKeys.delete(id),
      retracted: (_, because, { overlap }): RotationFinding => ({ code: overlap ? 'new-retracted' : 'retracted', because }),
    },
    observe: (input, facts, moment) =>
      facts.overlap ? observeCreation(app, facts.overlap.newName ?? '', moment) : observeRotation(app, input, facts, moment),
    doneSentence: (facts, endsAt) => {
      const { holder, overlap } = facts
      const shown = phrase`was shown once${holder ? phrase`, to ${person(holder.now)}` : []}.${endsWords(endsAt)}`
      if (!overlap)
        return phrase`Rotated API key ${keyOf(facts, 'old token')}. Its new token ${shown} The old token no longer works.${othersWork(facts)}`
      const old = phrase`The old key${holder ? phrase` of ${person(holder.before)}` : []}${markWords(facts)}`
      return phrase`Created a new API key ${keyPhrase(overlap.newName ?? facts.keyId)}. Its token ${shown} ${old} works${lastsWords(overlap.oldEndsAt)}.${othersWork(facts)}`
    },
  }
}

/** Makes a new key with the same access. The old one gets its end only once the request is done: a new token that nobody saw must not end it. */
async function issueBeside(app: App, facts: RotationFacts, options: { onAnswer: OnAnswer; request: IssuedFor }): Promise<Issued> {
  const { keyId, name = '', overlap, readOnly = true, allowedIps = [] } = facts
  const old = parseKeyName(name)
  if (!overlap?.newName || !old) throw new Error('the key was not read')
  const { label, requester, request: by } = old
  const [now, oldEndsAt] = [await earlierNow(app), await fixedEnd(app, overlap.oldEndsAt)]
  const { id: once, origin, cardTs: threadTs } = options.request
  const pending: KeyEnd = {
    ...{ keyId, label, requester, request: by, createdAt: overlap.createdAt ?? now, end: oldEndsAt, since: now },
    ...{ channelId: origin.channelId, threadTs, once, isReplaced: true, replaces: { end: overlap.endsAt, since: overlap.since } },
  }
  await changeEnd(app, placeOf(pending), () => pending)
  const { key, token } = await createKey(app, { name: overlap.newName, readOnly, allowedIps, endsAt: overlap.endsAt }, options)
  return {
    id: key.id,
    secret: token,
    heading: `The token of your new API key ${label}`,
    note: phrase`Shown once. Save it in your secrets manager now. Its name on the account is ${key.name ?? overlap.newName}. The old key works${lastsWords(oldEndsAt)}.`,
    endsAt: overlap.endsAt,
  }
}

/** Deletes a rotated key whose new token nobody has seen. After a report of not rotated, a person may use the new token, so it is kept. */
async function observeRotation(app: App, { keyId }: Rotation, { lastSlice }: RotationFacts, moment: Moment): Promise<Observation> {
  const failed = (cause: RotationFinding) => ({ is: 'failed' as const, cause })
  const key = findInList(await app.account.apiKeys.list(), ({ id }) => id === keyId)
  if (!key) return failed({ code: 'key-gone' })
  // Without the last characters of the token, a rotation cannot be detected.
  if (lastSlice === undefined || key.tokenLastSlice === undefined) return { is: 'unclear' }
  if (key.tokenLastSlice === lastSlice) {
    if (moment.isUnsettled) return { is: 'unclear' }
    return { is: 'not-started', cause: { code: 'not-rotated' } satisfies RotationFinding }
  }
  await app.account.apiKeys.delete(key.id)
  return failed({ code: 'rotated-unseen' })
}

async function preflight(
  app: App,
  { keyId, oldEndsAt, newKey }: Rotation,
  options: PreflightOptions<RotationFacts>,
): Promise<Preflight<RotationFacts, Rotation>> {
  const { key, facts, ...checked } = await preflightKey(app, 'rotate', keyId, options)
  const opened: RotationFinding[] = key && isOpenToAll(key) ? [{ code: 'full-access-from-everywhere' }] : []
  const holder = key && holderOf(key, newKey)
  const passed: RotationFinding[] = holder
    ? [{ code: 'other-holder', by: holder.now, creator: holder.before, isNewKey: oldEndsAt !== undefined }]
    : []
  const warnings = [...passed, ...checked.warnings, ...opened]
  if (oldEndsAt === undefined) return { ...checked, facts: { ...facts, holder }, input: { keyId: facts.keyId, newKey }, warnings }
  // Its time begins when the button is pressed, so that a slow approval takes nothing away.
  const end = options.forRequest ? oldEndsAt : await fixedEnd(app, oldEndsAt)
  const overlap = key ? await overlapWith(app, key, { oldEndsAt: end, newKey }) : { oldEndsAt }
  const isShorter = options.forRequest && overlap?.oldEndsAt !== end && overlap?.endsAt !== undefined
  const shorter: RotationFinding[] = isShorter ? [{ code: 'kept-shorter', asked: end, endsAt: overlap.endsAt as number }] : []
  return {
    ...checked,
    facts: { ...facts, overlap, holder },
    input: { keyId: facts.keyId, oldEndsAt: overlap?.oldEndsAt, newKey },
    warnings: [...shorter, ...warnings.filter(({ code }) => code !== 'token-stops')],
  }
}

function holderOf(key: ApiKey, newKey: string | undefined): RotationFacts['holder'] {
  const [now, before] = [requesterOfKey({ name: newKey }), requesterOfKey(key)]
  return now === undefined || before === undefined || now === before ? undefined : { now, before }
}

/** The old key ends no later than by itself, and the new one ends when the old one would have. */
async function overlapWith(
  app: App,
  key: ApiKey,
  { oldEndsAt, newKey = '' }: Pick<Rotation, 'newKey'> & { oldEndsAt: NewKeyEnd },
): Promise<RotationFacts['overlap']> {
  requireEndable(app, oldEndsAt, rotationFindings.refuse)
  if (requesterOfKey(key) === undefined) rotationFindings.refuse({ code: 'not-made-here' })
  if ([...labelOf(key.name ?? '')].length > longestLabel) rotationFindings.refuse({ code: 'label-too-long' })
  if (key.readOnly === undefined || key.allowedIps === undefined) rotationFindings.refuse({ code: 'access-unknown' })
  const recorded = (await shownEnds(app)).get(key.id)
  // If the record was lost, the name still says it.
  const endsAt = recorded?.end ?? parseKeyName(key.name)?.end
  if (endsAt !== undefined) requireEndable(app, endsAt, rotationFindings.refuse)
  const isSooner = endsAt !== undefined && endsAt < (await fixedEnd(app, oldEndsAt))
  return {
    oldEndsAt: isSooner ? endsAt : oldEndsAt,
    newName: `${labelOf(key.name ?? '')}${newKey}`,
    createdAt: Date.parse(key.createdAt ?? '') || undefined,
    endsAt,
    since: recorded?.since,
  }
}

function firstDifference(approved: RotationFacts, now: RotationFacts): RotationFinding[] {
  const found = differences(approved, now)
  const [before, after] = [approved, now].map(({ overlap }) => (overlap?.newName === undefined ? undefined : endWords(overlap.endsAt)))
  if (found.length > 0 || before === undefined || after === undefined || before === after) return found
  return [{ code: 'key-changed', what: 'end', before, now: after }]
}

function endWords(endsAt: number | undefined): string {
  return endsAt === undefined ? 'never' : utcTime(endsAt)
}

/** A rotation replaces the token, so its message goes on showing the end of the old one. */
function describe(facts: RotationFacts): Description {
  const { overlap } = facts
  const kept = overlap ? phrase`, keeping the old one${lastsWords(overlap.oldEndsAt)}` : []
  const title = phrase`Rotate API key ${keyOf(facts, 'old token')}${kept}`
  return describeKey(facts, { title, endsIn: 'Old token ends in', underway: 'being rotated', isWarned: true })
}
