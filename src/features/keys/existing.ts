import { z } from 'zod'
import { type ApiKey, isOwnKey } from '../../account/objects.ts'
import { findInList, listNow, staysUnchecked } from '../../account/resource.ts'
import type { App } from '../../app.ts'
import { accessFacts, accessWords, keyPhrase, labelOf, Namesakes, namesakesAre, originWords, requesterOfKey } from '../../domain/account.ts'
import type { Description, Fact, Preflight, PreflightOptions } from '../../domain/change.ts'
import { moment, type Phrase, person, phrase } from '../../domain/text.ts'
import { finding, findings, namesakes } from '../../kit/findings.ts'
import { endsWhen, KeyEnd, shownEnds } from '../../kit/key-ends.ts'
import { findListed, listedFact, shownFacts, withListed } from '../../kit/listed.ts'
import type { Thing } from '../../kit/thing.ts'
import { apiKeys, keyNamesakes, markOf } from '../../kit/things.ts'
import { preset } from '../../slack/pickers.ts'
import { mrkdwn, phraseWords } from '../../slack/text.ts'
import { keyInForm } from './end-words.ts'

// What a rotation and a revocation share: what they read of the key, what they say of it, and how they compare it.

/** With the end of each. */
export const keysWithEnds: Thing<ApiKey & { ends?: KeyEnd | undefined }> = {
  ...apiKeys,
  list: async (app) => {
    const list = await apiKeys.list(app)
    const ends = await shownEnds(app, list.items)
    return { ...list, items: list.items.map((key) => ({ ...key, ends: ends.get(key.id) })) }
  },
  candidate: ({ ends, ...key }) => {
    const known = apiKeys.candidate(key)
    return { ...known, text: keyInForm({ label: known.text, isReplaced: ends?.isReplaced }) }
  },
  details: ({ ends, ...key }) => [
    ...apiKeys.details(key),
    key.readOnly === undefined ? undefined : accessWords(key),
    ends === undefined ? "doesn't end by itself" : mrkdwn`ends ${phraseWords(endsWhen(ends))}`,
  ],
}

export const NamesakesOfKey = Namesakes.extend({ name: z.string() })
type NamesakesOfKey = z.infer<typeof NamesakesOfKey>

/** The key as the account API listed it. Members that could not be read are absent. */
const FactsOfKey = z.object({
  keyId: z.string(),
  name: z.string().optional(),
  lastSlice: z.string().optional(),
  readOnly: z.boolean().optional(),
  allowedIps: z.array(z.string()).optional(),
  owner: z.string().optional(),
  namesakes: NamesakesOfKey.optional(),
  /** Its own end, and whether a newer key replaced it. */
  ends: KeyEnd.pick({ end: true, isReplaced: true }).optional(),
})
export const KeyFacts = withListed(FactsOfKey)
export type KeyFacts = z.infer<typeof KeyFacts>

const Verb = z.enum(['rotate', 'revoke'])
type Verb = z.infer<typeof Verb>

/** `called`: what the request has of a key that is gone or can't be read. */
export const called = z.string().optional()
export const noKey = (key: { keyId: string; called?: string | undefined }) => phrase`No API key ${key.called ?? key.keyId} on the account.`
export const requestNew = 'Request a new key.'
const keyId = z.string()
const name = z.string()
const ms = z.number().optional()
const inUseMs = 7 * 24 * 3_600_000

export const sharedFindings = {
  'no-key': finding({ keyId, verb: Verb, called }, noKey, {
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
    { keyId, called },
    ({ keyId, called = keyId }) => `whether API key ${called} exists and isn't Lockkeeper's own (the account API didn't answer)`,
  ),

  'token-stops': finding({ verb: Verb }, ({ verb }) =>
    verb === 'rotate' ? 'Pressing Rotate key stops the old token.' : 'The token stops working when this starts.',
  ),
  /**
   * The times count back from `readAt`. `usedAgoMs`: absent if the account shows no use. `changedAgoMs`: since its last change or rotation,
   * set only if the account shows no use of the key. `creator`: the Slack id of its requester.
   */
  'key-history': finding(
    { readAt: z.number(), usedAgoMs: ms, ageMs: ms, changedAgoMs: ms, creator: z.string().optional() },
    ({ readAt, usedAgoMs, ageMs, changedAgoMs, creator }) => {
      const since = changedAgoMs === undefined ? [] : phrase` since its last change or rotation, ${moment(readAt - changedAgoMs)}`
      const used = usedAgoMs === undefined ? phrase`No use shown${since}.` : phrase`Last used ${moment(readAt - usedAgoMs)}.`
      const created = ageMs === undefined ? ['Created at an unknown time'] : phrase`Created ${moment(readAt - ageMs)}`
      return phrase`${used} ${created}${creator === undefined ? [] : phrase`, for ${person(creator)}`}.`
    },
    // Somebody may still need a key that was used lately.
    { isNote: ({ usedAgoMs = inUseMs }) => usedAgoMs >= inUseMs },
  ),
  namesakes: namesakes(apiKeys),

  'token-changed': finding('Another change rotated the key after this was requested.'),
  'key-changed': finding(
    { what: z.enum(['name', 'access', 'allowed addresses', 'end']), before: z.string(), now: z.string() },
    ({ what, before, now }) => phrase`The key's ${[what]} is ${now} now, not ${before}.`,
  ),
}
const { refuse, schema } = findings(sharedFindings)
type SharedFinding = z.infer<typeof schema>

/** The option of a picker that is chosen already. */
export function pickedKey(facts: KeyFacts) {
  const { keyId, name, lastSlice } = shownFacts(facts)
  return preset(apiKeys.candidate({ id: keyId, name, tokenLastSlice: lastSlice }))
}

export const resourceOf = ({ keyId }: { keyId: string }) => `api_key:${keyId}`
export function subjectOf(facts: KeyFacts): string {
  const { name, keyId } = shownFacts(facts)
  return name === undefined ? keyId : labelOf(name)
}

function calledIn(facts: KeyFacts | undefined): string | undefined {
  return facts && keyInForm({ ...shownFacts(facts), label: subjectOf(facts) })
}

/** `key`: as the list of the account has it. Absent if the account API did not answer. */
export async function preflightKey(
  app: App,
  verb: Verb,
  keyId: string,
  { signal, forRequest, approved }: PreflightOptions<KeyFacts>,
): Promise<Preflight<KeyFacts, { keyId: string }> & { warnings: SharedFinding[]; key?: ApiKey }> {
  const warnings: SharedFinding[] = [{ code: 'token-stops', verb }]
  const listing = forRequest ? app.lists.apiKeys() : undefined
  try {
    const list = await listNow(listing && (() => listing), () => app.account.apiKeys.list({ signal }))
    const key = findInList(list, ({ id }) => id === keyId)
    if (!key) return refuse({ code: 'no-key', keyId, verb, called: calledIn(approved) })
    if (isOwnKey(key, app)) refuse({ code: 'own-key', verb })
    const { id, name, tokenLastSlice } = key
    const facts = factsOf(key, list.items, await shownEnds(app, list.items))
    const perhapsOwn: SharedFinding = { code: 'perhaps-own-key', name: name ?? keyId }
    return {
      key,
      facts,
      input: { keyId: id },
      unchecked: tokenLastSlice === undefined ? [perhapsOwn] : [],
      warnings: [...namesakeWarnings(facts.namesakes), ...warnings, historyOf(key, Date.now())],
      incomplete: false,
    }
  } catch (error) {
    if (!staysUnchecked(error)) throw error
    const found = await findListed(listing, keyId)
    const listed = found && { ...factsOf(found.item, found.items, await shownEnds(app, found.items)), at: found.at }
    const unchecked: SharedFinding[] = [{ code: 'key-unread', keyId, called: calledIn(listed ?? approved) }]
    return { facts: { keyId, listed }, input: { keyId }, unchecked, warnings, incomplete: true }
  }
}

function factsOf(key: ApiKey, keys: ApiKey[], all: Map<string, KeyEnd>): z.infer<typeof FactsOfKey> {
  const { id: keyId, name, tokenLastSlice: lastSlice, readOnly, allowedIps, user } = key
  const own = all.get(keyId)
  const ends = own && { end: own.end, isReplaced: own.isReplaced }
  return { keyId, name, lastSlice, readOnly, allowedIps, owner: user?.email, namesakes: namesakesOf(all, keys, key), ends }
}

/** The other keys that people know by its name, and when those end. */
export function namesakesOf(ends: Map<string, KeyEnd>, keys: ApiKey[], { id, name }: ApiKey): NamesakesOfKey | undefined {
  const [found] = name === undefined ? [] : keyNamesakes(keys, labelOf(name), id)
  if (!found) return undefined
  const shown = found.others.map((mark) => keys.flatMap((key) => (markOf(key) === mark ? (ends.get(key.id) ?? []) : []))[0])
  const { name: label, others, count } = found
  return { name: label, others, count, ends: shown.map((own) => own?.end ?? null), replaced: shown.map((own) => own?.isReplaced === true) }
}

export function namesakeWarnings(namesakes: NamesakesOfKey | undefined) {
  return namesakes ? [{ code: 'namesakes' as const, ...namesakes }] : []
}

function historyOf(key: ApiKey, now: number): SharedFinding {
  const [usedAgoMs, ageMs, changedAgoMs] = [key.lastUsedAt, key.createdAt, key.updatedAt].map((at) => {
    const ago = now - Date.parse(at ?? '')
    return Number.isNaN(ago) ? undefined : Math.max(0, ago)
  })
  // After a rotation the account may show no use of a key that was in use until then.
  const isChanged = usedAgoMs === undefined && (ageMs === undefined || ageMs - (changedAgoMs ?? ageMs) > 60_000)
  const creator = requesterOfKey(key)
  return { code: 'key-history', readAt: now, usedAgoMs, ageMs, changedAgoMs: isChanged ? changedAgoMs : undefined, creator }
}

/** Finds what has changed since the approval, such as a rotation by somebody else. Compares only what both reads show. */
export function differences(facts: KeyFacts, now: KeyFacts): SharedFinding[] {
  const approved = shownFacts(facts)
  const differ = <T>(of: (facts: KeyFacts) => T | undefined) =>
    of(approved) !== undefined && of(now) !== undefined && of(approved) !== of(now)
  if (differ(({ lastSlice }) => lastSlice)) return [{ code: 'token-changed' }]
  const changed = (what: 'name' | 'access' | 'allowed addresses', words: (facts: KeyFacts) => string): SharedFinding[] => [
    { code: 'key-changed', what, before: words(approved), now: words(now) },
  ]
  if (differ(({ name }) => name)) return changed('name', ({ name = '' }) => name)
  if (differ(({ readOnly }) => readOnly)) return changed('access', accessWords)
  return differ(({ allowedIps }) => allowedIps && JSON.stringify(allowedIps.toSorted())) ? changed('allowed addresses', originWords) : []
}

/** `endsIn`: the label of the last characters of its token. `isWarned`: a warning says what it may do. */
export function describeKey(
  facts: KeyFacts,
  { title, endsIn, underway, isWarned }: { title: Phrase; endsIn: string; underway: string; isWarned: boolean },
): Description {
  const shown = shownFacts(facts)
  const { keyId, name, owner, ends } = shown
  const requester = requesterOfKey({ name })
  const whom: Fact[] = requester === undefined ? [] : [{ label: 'For', value: requester, isPerson: true }]
  const what: Fact[] = [...tokenFact(shown, endsIn), ...(ends ? [{ label: 'Ends', value: endsWhen(ends) }] : [])]
  return {
    title,
    facts: [
      ...whom,
      ...what,
      // Warnings say only what was read now.
      ...accessFacts(shown, { isWarned: isWarned && !facts.listed }),
      { label: 'Owner', value: owner ?? 'unknown' },
      ...listedFact(facts),
    ],
    ids: [
      ...(name === undefined ? [] : [{ label: 'API key', value: keyId }]),
      // People know the key by less than its whole name.
      ...(name === undefined || name === labelOf(name) ? [] : [{ label: 'Name on the account', value: name }]),
    ],
    underway,
  }
}

/** Names the key as people know it: `ci-deploy, for @Ada`. Without a name it is the id. Of several with its name, it says which one. */
export function keyOf(given: KeyFacts, token?: 'old token'): Phrase {
  const { keyId, name, ...facts } = shownFacts(given)
  return name === undefined ? phrase`${keyId}` : keyPhrase(name, markWords(facts, token))
}

type Marked = Pick<KeyFacts, 'lastSlice' | 'namesakes'>

/** ` (token ends in x7Qz1)`, if other keys have its name. */
export function markWords({ lastSlice, namesakes }: Marked, token: 'token' | 'old token' = 'token'): Phrase {
  return namesakes && lastSlice !== undefined ? phrase` (${[token]} ends in ${lastSlice})` : []
}

/** Nothing if the title says it. */
export function tokenFact(facts: Marked, label = 'Token ends in'): Fact[] {
  return markWords(facts).length > 0 ? [] : [{ label, value: facts.lastSlice ?? 'unknown' }]
}

/** After a change of one of several keys of one name. */
export function othersWork({ namesakes }: Marked): Phrase {
  if (!namesakes) return []
  return phrase` ${namesakesAre(namesakes, apiKeys)} also called ${namesakes.name} and still ${[namesakes.count === 1 ? 'works' : 'work']}.`
}
