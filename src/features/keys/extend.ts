import { z } from 'zod'
import { type ApiKey, isOwnKey } from '../../account/objects.ts'
import { findInList, listNow, staysUnchecked } from '../../account/resource.ts'
import type { App } from '../../app.ts'
import { accessFacts, labelOf, parseKeyName, writeKeyName } from '../../domain/account.ts'
import type { Change, Moment, Observation, Preflight, PreflightOptions } from '../../domain/change.ts'
import { StoreUnavailableError } from '../../domain/errors.ts'
import { moment, owner, type Phrase, phrase } from '../../domain/text.ts'
import { isElapsed } from '../../domain/times.ts'
import { changeFeature } from '../../kit/change-feature.ts'
import { pick } from '../../kit/change-form.ts'
import { finding, findings } from '../../kit/findings.ts'
import { KeyEnd, keptMs, recordLaterEnd, shownEnds } from '../../kit/key-ends.ts'
import { findListed, listedFact, shownFacts, withListed } from '../../kit/listed.ts'
import { findTyped } from '../../kit/thing.ts'
import { apiKeys } from '../../kit/things.ts'
import { preset } from '../../slack/pickers.ts'
import { mrkdwn } from '../../slack/text.ts'
import { endFields, endFindings, enteredEnd, filledEnd, isLateEnd, readEnd, requireEndable, splitEnd } from './end-fields.ts'
import { keyInForm } from './end-words.ts'
import {
  called,
  keysWithEnds,
  markWords,
  NamesakesOfKey,
  namesakesOf,
  namesakeWarnings,
  noKey,
  othersWork,
  sharedFindings,
  tokenFact,
} from './existing.ts'

/** `endsAt`: the new end, in ms since 1970. */
const Extension = z.object({ keyId: z.string(), endsAt: z.number() })
type Extension = z.infer<typeof Extension>

/** The key as the account listed it. `known`: absent if Redis has no end of it. */
const Facts = withListed(
  Extension.extend({
    readOnly: z.boolean().optional(),
    allowedIps: z.array(z.string()).optional(),
    lastSlice: z.string().optional(),
    namesakes: NamesakesOfKey.optional(),
    known: KeyEnd.pick({ label: true, requester: true, request: true, createdAt: true, end: true, isReplaced: true }).optional(),
  }),
)
type Facts = z.infer<typeof Facts>

const keyId = z.string()
const revokeLater = 'Request to revoke it when nobody needs it anymore.'

export const extensionFindings = findings({
  ...endFindings,
  namesakes: sharedFindings.namesakes,
  replaced: finding('A newer key replaced this one. Extending it keeps its token working.'),
  'no-key': finding({ keyId, called }, noKey, { next: 'Request a new key.' }),
  'own-key': finding('Lockkeeper uses this key, so it never ends it.', { next: '' }),
  'never-ends': finding("This key doesn't end by itself.", { next: revokeLater }),
  'end-lost': finding(
    { end: z.number() },
    ({ end }) => phrase`Redis lost the record of this key's end, ${moment(end)}. It doesn't end by itself.`,
    {
      next: revokeLater,
    },
  ),
  'end-changed': finding(
    { before: z.number(), end: z.number() },
    ({ before, end }) => phrase`The key ends ${moment(end)} now, not ${moment(before)}.`,
  ),
  'ends-later': finding({ end: z.number() }, ({ end }) => phrase`This key ends ${moment(end)} already. Choose a later end.`, {
    field: 'ends',
  }),
  'key-unread': finding(
    { keyId, called },
    ({ keyId, called = keyId }) => `whether API key ${called} exists and when it ends (the account API didn't answer)`,
  ),
  'not-extended': finding("The key wasn't extended. It ends as before."),
  'key-gone': finding('The key is no longer on the account.', { next: 'Request a new key.' }),
})
type Found = z.infer<typeof extensionFindings.schema>

const endingKeys: typeof keysWithEnds = {
  ...keysWithEnds,
  candidate: ({ ends, ...key }) => {
    const known = apiKeys.candidate(key)
    return { ...known, text: keyInForm({ ...ends, label: known.text, lastSlice: key.tokenLastSlice }) }
  },
  whyLeftOut: (app, key) => apiKeys.whyLeftOut?.(app, key) ?? (key.ends === undefined ? "It doesn't end by itself." : undefined),
}

export const extendApiKey = changeFeature<Extension, Facts, 'keyId' | 'ends' | 'date'>({
  kind: 'key.extend',
  // The end of a key is a promise to those who approved it.
  neverExempt: true,
  change: extensionChange,
  findings: extensionFindings,
  form: {
    callbackId: 'extend-api-key',
    title: 'Extend an API key',
    about: 'keyId',
    hasEnds: true,
    takesNoStart: true,
    fields: {
      keyId: pick(endingKeys, { label: 'API key', hint: 'One that ends by itself. Its token stays the same.' }),
      ...endFields({ isExtension: true }),
    },
    input: async ({ keyId, ...entered }, { origin }, app) => {
      const from = (await shownEnds(app)).get(keyId)?.end
      return { keyId, endsAt: await readEnd(app, enteredEnd(entered) ?? '', origin.userId, from) }
    },
    filled: ({ keyId, endsAt }, facts) => {
      const { known, lastSlice } = shownFacts(facts)
      return { ...filledEnd(endsAt), keyId: preset({ text: known ? keyInForm({ ...known, lastSlice }) : keyId, value: keyId }) }
    },
  },
  command: {
    words: 'keys extend',
    synonyms: ['keys prolong', 'keys renew'],
    group: 'Keys',
    usage: '[<key> <time> | <key> until <date>]',
    summary: 'Request a later end for an API key',
    details: mrkdwn`The key by name or id, and how much longer it works, or until when. Only for keys that end by themselves. Its token stays the same.`,
    examples: ['ci-deploy 30d', 'ci-deploy until 2026-12-24'],
    isLateTime: isLateEnd,
    isComplete: (args) => splitEnd(args, { bare: true, first: true }).end !== undefined,
  },
  read: async (app, { args: words, slashCommand }) => {
    const { args, end } = splitEnd(words, { bare: true, first: true })
    const typed = args.join(' ')
    const [named, ends] = await Promise.all([findTyped(app, endingKeys, typed), shownEnds(app)])
    const [first, ...others] = named.filter(({ ends }) => ends !== undefined)
    // If none of them ends, the check says so.
    const found: typeof named = first ? [first, ...others] : named
    const later = found.map(({ id }) => readEnd(app, end ?? '', slashCommand.origin.userId, ends.get(id)?.end))
    const endsAt = new Map(await Promise.all(later.map(async (at, index) => [found[index]?.id, await at] as const)))
    const ask = mrkdwn`Which one should be extended?`
    return {
      thing: endingKeys,
      typed,
      found,
      inputOf: (keyId) => ({ keyId, endsAt: endsAt.get(keyId) ?? 0 }),
      ask,
      byId: `keys extend <id> ${isElapsed(end ?? '') ? 'for ' : /^in /.test(end ?? '') ? '' : 'until '}${end}`,
    }
  },
  item: { of: 'api-key', label: 'Extend…' },
})

/** The change that renames a key, because its name says when it ends (vendor's OpenAPI document, "PATCH /auth/api_keys/{api_key_id}"). */
export function extensionChange(app: App): Change<Extension, Facts> {
  return {
    kind: 'key.extend',
    label: 'extending an API key',
    takesNoStart: true,
    offeredAtEnd: 'Extend…',
    input: Extension,
    facts: Facts,
    resource: ({ keyId }) => `api_key:${keyId}`,
    endOf: ({ endsAt }) => ({ endsAt }),
    tooLateAt: ({ known }) => known?.end,
    keeps: ({ known }) => known && { endsAt: known.end, until: known.end + keptMs },
    preflight: (input, options) => preflight(app, input, options),
    differences: ({ known: approved }, { known: now }) => {
      if (!approved || !now || approved.end === now.end) return []
      return [{ code: 'end-changed', before: approved.end, end: now.end } satisfies Found]
    },
    explain: extensionFindings.explain,
    subject: ({ known, keyId }) => known?.label ?? keyId,
    describe: (facts) => ({
      title: phrase`Extend API key ${nameOf(facts)}${facts.known ? phrase` from ${moment(facts.known.end)}` : []} to ${moment(facts.endsAt)}`,
      facts: [...tokenFact(shownFacts(facts)), ...accessFacts(shownFacts(facts)), ...listedFact(facts)],
      ids: [{ label: 'API key', value: facts.keyId }],
      underway: 'being extended',
    }),
    send: async ({ keyId, endsAt }, { known }, { onAnswer }) => {
      if (!known) throw new Error('the key was not read')
      await app.account.apiKeys.rename(keyId, writeKeyName({ ...known, end: endsAt }), { onAnswer })
      try {
        if (await recordLaterEnd(app, { ...known, keyId }, endsAt)) return 'done'
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error
      }
      // The name has the new end, and it is recorded when the key is observed.
      return 'tracking'
    },
    observe: (input, facts, moment) => observe(app, input, facts, moment),
    doneSentence: (facts) => phrase`Extended API key ${nameOf(facts)}. It ends ${moment(facts.endsAt)}.${othersWork(facts)}`,
  }
}

async function preflight(
  app: App,
  { keyId, endsAt }: Extension,
  { signal, forRequest, approved }: PreflightOptions<Facts>,
): Promise<Preflight<Facts, Extension>> {
  const { refuse } = extensionFindings
  requireEndable(app, endsAt, refuse)
  const listing = forRequest ? app.lists.apiKeys() : undefined
  try {
    const list = await listNow(listing && (() => listing), () => app.account.apiKeys.list({ signal }))
    const key = findInList(list, ({ id }) => id === keyId)
    if (!key) return refuse({ code: 'no-key', keyId, called: calledIn(approved) })
    if (isOwnKey(key, app)) refuse({ code: 'own-key' })
    const ends = await shownEnds(app, list.items)
    const known = requireEarlier(ends.get(keyId), key, endsAt)
    const replaced: Found[] = known.isReplaced ? [{ code: 'replaced' }] : []
    const facts = { keyId, endsAt, ...factsOf(key, list.items, ends), known: asKnown(known) }
    return { facts, unchecked: [], warnings: [...replaced, ...namesakeWarnings(facts.namesakes)], incomplete: false }
  } catch (error) {
    if (!staysUnchecked(error)) throw error
    const found = await findListed(listing, keyId)
    const ends = await shownEnds(app, found?.items)
    const known = ends.get(keyId)
    if (forRequest) requireEarlier(known, found?.item, endsAt)
    const facts = { keyId, endsAt, known: known && asKnown(known) }
    const listed = found && { ...facts, ...factsOf(found.item, found.items, ends), at: found.at }
    return {
      facts: { ...facts, listed },
      unchecked: [{ code: 'key-unread', keyId, called: calledIn({ ...facts, listed }) } satisfies Found],
      incomplete: true,
    }
  }
}

/** Redis has the end of every key that ends. */
function requireEarlier(known: KeyEnd | undefined, key: ApiKey | undefined, endsAt: number): KeyEnd {
  const { refuse } = extensionFindings
  const named = parseKeyName(key?.name)?.end
  if (!known) return refuse(named === undefined ? { code: 'never-ends' } : { code: 'end-lost', end: named })
  if (known.end >= endsAt) refuse({ code: 'ends-later', end: known.end })
  return known
}

function calledIn(facts: Facts | undefined): string | undefined {
  return facts?.known && keyInForm({ ...shownFacts(facts), label: facts.known.label })
}

function asKnown({ label, requester, request, createdAt, end, isReplaced }: KeyEnd) {
  return { label, requester, request, createdAt, end, isReplaced }
}

function factsOf(key: ApiKey, keys: ApiKey[], ends: Map<string, KeyEnd>) {
  const { readOnly, allowedIps, tokenLastSlice: lastSlice } = key
  return { readOnly, allowedIps, lastSlice, namesakes: namesakesOf(ends, keys, key) }
}

async function observe(app: App, { keyId, endsAt }: Extension, { known }: Facts, { isUnsettled }: Moment): Promise<Observation> {
  const key = findInList(await app.account.apiKeys.list(), ({ id }) => id === keyId)
  if (!key) return { is: 'failed', cause: { code: 'key-gone' } satisfies Found }
  const isRenamed = known && parseKeyName(key.name)?.end === endsAt
  if (isRenamed && (await recordLaterEnd(app, { ...known, keyId }, endsAt))) return { is: 'done' }
  const { end = 0 } = (await shownEnds(app)).get(keyId) ?? {}
  if (end >= endsAt) return { is: 'done' }
  if (isRenamed) return { is: 'failed', cause: { code: 'end-changed', before: known.end, end } satisfies Found }
  return isUnsettled ? { is: 'unclear' } : { is: 'not-started', cause: { code: 'not-extended' } satisfies Found }
}

function nameOf(given: Facts): Phrase {
  const { keyId, known, ...facts } = shownFacts(given)
  return known ? phrase`${labelOf(known.label)}${markWords(facts)}${owner(known.requester)}` : phrase`${keyId}`
}
