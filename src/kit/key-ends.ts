import { hash } from 'node:crypto'
import { z } from 'zod'
import type { ApiKey } from '../account/objects.ts'
import type { App } from '../app.ts'
import { labelOf, parseKeyName, writeKeyName } from '../domain/account.ts'
import type { IssuedFor, OnAnswer } from '../domain/change.ts'
import { type NewKeyEnd, replacedWords, wholeMinute } from '../domain/key-ends.ts'
import { moment, type Phrase, phrase } from '../domain/text.ts'
import { guardStore } from '../redis/connect.ts'
import { type Opened, open, replace, seal } from '../redis/sealed.ts'

/** A request for a later end that is approved or under way keeps a key for this long after its end. */
export const keptMs = 24 * 3_600_000

/** A key that ends by itself, as it is signed in Redis. Times are in ms since 1970. */
export const KeyEnd = z.object({
  keyId: z.string(),
  label: z.string(),
  requester: z.string(),
  /** The first 12 characters of the id of the request that created the key. */
  request: z.string(),
  createdAt: z.number(),
  end: z.number(),
  /** When it got this end. */
  since: z.number(),
  /** The message of the request. Absent if its record was lost when the key was extended: then the owner gets a direct message. */
  channelId: z.string().optional(),
  threadTs: z.string().optional(),
  /** A rotation that keeps it for a while made a newer key of its name. */
  isReplaced: z.literal(true).optional(),
  /** The last list did not show it. */
  gone: z.literal(true).optional(),
  /** Only as it is shown: the last characters of its token, as the list showed them. */
  lastSlice: z.string().optional(),
  /** Only as it is shown: until when a request for a later end keeps it past its end. */
  keptUntil: z.number().optional(),
  /** It gets this end once the request with this id is done, if its record and its name then still have the end that this replaces. */
  once: z.string().optional(),
  /** `since`: of its record, if that was not lost. Another record can have the same end. */
  replaces: z.object({ end: z.number().optional(), since: z.number().optional() }).optional(),
})
export type KeyEnd = z.infer<typeof KeyEnd>

export type Told = '7d' | '1d' | 'ended'
const Message = z.object({ key: KeyEnd, told: z.enum(['7d', '1d', 'ended']) })
export type KeyEndMessage = z.infer<typeof Message>

/** An end that a key gets later stands beside the one that it has. */
export const placeOf = ({ keyId, once }: Pick<KeyEnd, 'keyId' | 'once'>) => (once === undefined ? keyId : `once ${once}`)

/** A record is signed, but not where it is stored. */
function openAt(app: App, place: string, text: string): Opened<KeyEnd> {
  const found = open(app.recordKeyring, 'key-end', KeyEnd, text)
  return found.is === 'genuine' && placeOf(found.facts) !== place ? { is: 'forged' } : found
}

/**
 * `pending`: ends that keys get later. `untrusted`: the places of records that Lockkeeper did not write, or that were signed with a key that this
 * process does not have: they do nothing. `outdated`: of those that an older key signed. Throws StoreUnavailableError.
 */
export async function readEnds(app: App) {
  const stored = await guardStore(() => app.redis.hgetall(app.keys.keyEnds))
  const read = Object.entries(stored).map(([place, text]) => ({ place, found: openAt(app, place, text) }))
  const genuine = read.flatMap(({ found }) => (found.is === 'genuine' ? [found] : []))
  const records = genuine.map(({ facts }) => facts)
  return {
    ends: new Map(records.filter(({ once }) => once === undefined).map((record) => [record.keyId, record] as const)),
    // One can replace what another one, of an earlier rotation, is to give.
    pending: records.filter(({ once }) => once !== undefined).toSorted((a, b) => a.since - b.since),
    untrusted: read.flatMap(({ place, found }) => (found.is === 'genuine' ? [] : [place])),
    outdated: genuine.filter(({ isCurrent }) => !isCurrent).map(({ facts }) => placeOf(facts)),
  }
}

/** Reads one record again. Undefined if there is none that is genuine. Throws StoreUnavailableError. */
export async function readEnd(app: App, place: string): Promise<KeyEnd | undefined> {
  const text = await guardStore(() => app.redis.hget(app.keys.keyEnds, place))
  const found = openAt(app, place, text ?? '')
  return found.is === 'genuine' ? found.facts : undefined
}

/**
 * Replaces a record with what `decide` makes of it, unless somebody changes it meanwhile: then `decide` is asked again. Undefined leaves it as it is.
 * A forged record counts as none. Nothing replaces one that was signed with a key that this process does not have. Returns whether it is now as
 * `decide` said. Throws StoreUnavailableError.
 */
export async function changeEnd(
  app: App,
  place: string,
  decide: (before: KeyEnd | undefined) => KeyEnd | 'none' | undefined,
): Promise<boolean> {
  for (;;) {
    const text = (await guardStore(() => app.redis.hget(app.keys.keyEnds, place))) ?? ''
    const found = openAt(app, place, text)
    const next = found.is === 'unreadable' ? undefined : decide(found.is === 'genuine' ? found.facts : undefined)
    if (next === undefined) return false
    const after = next === 'none' ? '' : seal(app.recordKeyring, 'key-end', next)
    if ((await replace(app, { key: app.keys.keyEnds, field: place }, { before: text, after })) !== 'changed') return true
  }
}

/** By both clocks: Redis' and that of this process. If one of them is wrong, nothing ends early. In ms since 1970. */
export async function earlierNow({ store }: Pick<App, 'store'>): Promise<number> {
  return Math.min(await store.now(), Date.now())
}

/** When a key ends whose time begins now, in ms since 1970. */
export async function fixedEnd(app: App, end: NewKeyEnd): Promise<number> {
  return typeof end === 'number' ? end : wholeMinute((await earlierNow(app)) + end.afterMs)
}

/** Creates a key. The end of one that ends is recorded before anybody sees its token: a key without its record is one that nobody saw. */
export async function createKey(
  app: App,
  key: { name: string; readOnly: boolean; allowedIps: string[]; endsAt?: number | undefined },
  { onAnswer, request }: { onAnswer: OnAnswer; request: IssuedFor },
) {
  const { name, readOnly, allowedIps, endsAt: end } = key
  const parsed = parseKeyName(name)
  if (end === undefined || !parsed) return app.account.apiKeys.create({ name, readOnly, allowedIps }, { onAnswer })
  const { label, requester, request: by } = parsed
  const now = await earlierNow(app)
  const issued = await app.account.apiKeys.create({ name: writeKeyName({ ...parsed, end }), readOnly, allowedIps }, { onAnswer })
  const place = { channelId: request.origin.channelId, threadTs: request.cardTs }
  const { id: keyId } = issued.key
  const record = { keyId, label, requester, request: by, createdAt: now, end, since: now, ...place }
  if (!(await changeEnd(app, keyId, () => record))) throw new Error('the end of a new key could not be recorded')
  return issued
}

/**
 * Which keys end by themselves, by their ids. A rotation that is done counts at once, although the account has the old name of its key for some time:
 * until then, `replaces` has what is recorded. `listed`: says of which a newer key is still there.
 */
export async function shownEnds(app: App, listed?: ApiKey[]): Promise<Map<string, KeyEnd>> {
  if (app.config.signsWithApiKey) return new Map()
  const { ends, pending } = await readEnds(app)
  const requests = await app.store.findMany(pending.flatMap(({ once }) => once ?? []))
  const isDone = (id: string | undefined) => requests.some((request) => request.id === id && request.state === 'done')
  for (const { once, replaces, ...end } of pending) {
    const before = ends.get(end.keyId)
    if (isDone(once) && before?.since === replaces?.since) ends.set(end.keyId, { ...end, replaces: before?.replaces ?? replaces ?? {} })
  }
  if (!listed) return ends
  const listedIds = new Set(listed.map(({ id }) => id))
  const kept = (key: KeyEnd) => (listedIds.has(key.keyId) ? keptUntil(app, key) : undefined)
  const shown = [...ends].map(async ([id, key]) => [id, { ...shownAs(key, listed), keptUntil: await kept(key) }] as const)
  return new Map(await Promise.all(shown))
}

/** Until when an approved extension keeps a key that is past its end. */
export async function keptUntil(app: App, { keyId, end }: KeyEnd): Promise<number | undefined> {
  const isOver = end <= Date.now() && Date.now() < end + keptMs
  return isOver && (await endUnderWay(app, keyId)) > end ? end + keptMs : undefined
}

/** The latest end that a request gives a key which is approved or under way, and not forged. 0 without one. */
export async function endUnderWay({ store, catalog, signatures }: App, keyId: string): Promise<number> {
  const others = await store.othersFor({ id: '', resource: `api_key:${keyId}` })
  const ends = others.map((request) => {
    // One that this process cannot verify may be genuine for those with a newer STATE_KEY.
    const isBelieved = request.state !== 'waiting' && ['genuine', 'unknown-key'].includes(signatures.verifyRecord(request))
    const opened = isBelieved ? catalog.openIfFit(request) : undefined
    const next = opened?.change.endOf?.(opened.input, opened.facts)
    return typeof next === 'object' && typeof next.endsAt === 'number' ? next.endsAt : 0
  })
  return Math.max(0, ...ends)
}

/** Of two keys of one name, says which replaced the other. */
export function endsWhen({ end, isReplaced, keptUntil }: Pick<KeyEnd, 'end' | 'isReplaced' | 'keptUntil'>): Phrase {
  const kept = keptUntil === undefined ? [] : phrase`, kept until ${moment(keptUntil)} by an approved request`
  return phrase`${moment(end)}${isReplaced ? [`, ${replacedWords}`] : []}${kept}`
}

/** After a rotation with overlap two keys have one name, until one of them is gone. `listed`: absent if it can't be read. */
export function shownAs(key: KeyEnd, listed: ApiKey[] | undefined): KeyEnd {
  const isNewer = ({ id, name = '', createdAt = '' }: ApiKey) =>
    // An unknown time may be later.
    id !== key.keyId && labelOf(name) === key.label && !(Date.parse(createdAt) < key.createdAt)
  const isLeft = key.isReplaced && listed && !listed.some(isNewer)
  return { ...key, isReplaced: isLeft ? undefined : key.isReplaced, lastSlice: listed?.find(({ id }) => id === key.keyId)?.tokenLastSlice }
}

/** Gives a key the later end that was approved, if it has the end that was approved with it, or its record was lost. Returns whether it has it now. */
export async function recordLaterEnd(app: App, approved: Omit<KeyEnd, 'since'>, later: number): Promise<boolean> {
  const [since, ends] = await Promise.all([earlierNow(app), shownEnds(app)])
  const shown = ends.get(approved.keyId)
  return changeEnd(app, approved.keyId, (before) => {
    const isPending = shown?.replaces !== undefined && shown.replaces.since === before?.since
    if (!isPending && before?.end === later) return before
    const { gone: _, replaces: __, ...record } = (isPending ? shown : before) ?? approved
    return record.end === approved.end ? { ...record, end: later, since } : undefined
  })
}

/** A key that got a later end is called for again. */
export function messageIdOf({ key: { keyId, end }, told }: KeyEndMessage): string {
  return `key-end-${hash('sha256', JSON.stringify([keyId, end, told])).slice(0, 24)}`
}

/** The facts of a message that is owed. Undefined if Lockkeeper did not write them, or for another message. */
export function openMessage(app: App, id: string, facts: string): KeyEndMessage | undefined {
  const found = open(app.recordKeyring, 'key-end-message', Message, facts)
  return found.is === 'genuine' && messageIdOf(found.facts) === id ? found.facts : undefined
}
