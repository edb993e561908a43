import { hash } from 'node:crypto'
import { z } from 'zod'
import type { ApiKey } from '../account/objects.ts'
import type { App } from '../app.ts'
import { type KeyName, parseKeyName, writeKeyName } from '../domain/account.ts'
import type { IssuedFor, OnAnswer } from '../domain/change.ts'
import { ApiError } from '../domain/errors.ts'
import { namedEnds, signEnd } from '../domain/key-ends.ts'
import { guardStore } from '../redis/connect.ts'

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
  /** The message of the request. Absent if only the name of the key is left of it: then the owner is told directly. */
  channelId: z.string().optional(),
  threadTs: z.string().optional(),
  /** The last list did not show it. */
  gone: z.literal(true).optional(),
  /** The later end that it had before a rotation. A name that still says so is old, or was put back. */
  replaces: z.number().optional(),
  /** Only of a message: the last characters of its token, as the list showed them. */
  lastSlice: z.string().optional(),
  /** It gets this end once the request with this id is done. */
  once: z.string().optional(),
})
export type KeyEnd = z.infer<typeof KeyEnd>

export type Told = '7d' | '1d' | 'ended'
const Message = z.object({ key: KeyEnd, told: z.enum(['7d', '1d', 'ended']) })
export type KeyEndMessage = z.infer<typeof Message>

const Signed = z.object({ signed: z.unknown(), signature: z.string() })

export function encodeEnd({ endsKeyring }: App, what: 'key-end' | 'key-end-message', content: unknown): string {
  return JSON.stringify({ signed: content, signature: endsKeyring.sign({ what, content }) })
}

/** Undefined if Lockkeeper did not write it. */
function decode<Content>({ endsKeyring }: App, what: 'key-end' | 'key-end-message', schema: z.ZodType<Content>, text: string) {
  try {
    const { signed, signature } = Signed.parse(JSON.parse(text))
    return endsKeyring.verify({ what, content: signed }, signature) === 'genuine' ? schema.parse(signed) : undefined
  } catch {
    return undefined
  }
}

/** An end that a key gets later stands beside the one that it has. */
const placeOf = ({ keyId, once }: Pick<KeyEnd, 'keyId' | 'once'>) => (once === undefined ? keyId : `once ${once}`)

/** `pending`: ends that keys get later. `notGenuine`: the places of records that somebody else wrote, which do nothing. Throws StoreUnavailableError. */
export async function readEnds(app: App) {
  const stored = await guardStore(() => app.redis.hgetall(app.keys.keyEnds))
  const read = Object.entries(stored).map(([place, text]) => ({ place, record: decode(app, 'key-end', KeyEnd, text) }))
  // A record is signed, but not where it is stored.
  const genuine = read.flatMap(({ place, record }) => (record && placeOf(record) === place ? [record] : []))
  const places = new Set(genuine.map(placeOf))
  return {
    ends: new Map(genuine.flatMap((record) => (record.once === undefined ? [[record.keyId, record] as const] : []))),
    pending: genuine.filter(({ once }) => once !== undefined),
    notGenuine: read.flatMap(({ place }) => (places.has(place) ? [] : [place])),
  }
}

export async function writeEnd(app: App, end: KeyEnd): Promise<void> {
  await guardStore(() => app.redis.hset(app.keys.keyEnds, placeOf(end), encodeEnd(app, 'key-end', end)))
}

export async function dropEnd({ redis, keys }: App, end: Pick<KeyEnd, 'keyId' | 'once'>): Promise<void> {
  await guardStore(() => redis.hdel(keys.keyEnds, placeOf(end)))
}

/** The workspace whose id the names of keys are signed with. */
export function teamOf({ slack }: App): string {
  const team = slack.identity.current()?.teamId
  if (team === undefined) throw new Error('the workspace is not known yet')
  return team
}

/** The name of a key that ends. `createdAt`: when the key was created, or now if it is created next. */
export function signedName(app: App, { label, requester, request, end }: KeyName & { end: number }, createdAt: number): KeyName {
  return signEnd(app.endsKeyring, { label, requester, request, end }, teamOf(app), createdAt)
}

/** The label in a name that the account refused for its length. Records and messages keep the whole label. */
const shortLabel = 16

/** Writes a name of a key. If the account refuses it (422), which may be for its length, once more with a shorter label. */
export async function withName<Result>(name: KeyName, write: (name: string) => Promise<Result>): Promise<Result> {
  try {
    return await write(writeKeyName(name))
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 422) || name.label.length <= shortLabel) throw error
    return write(writeKeyName({ ...name, label: name.label.slice(0, shortLabel).trimEnd() }))
  }
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
  const now = await app.store.now()
  const signed = signedName(app, { label, requester, request: by, end }, now)
  const issued = await withName(signed, (text) => app.account.apiKeys.create({ name: text, readOnly, allowedIps }, { onAnswer }))
  const place = { channelId: request.origin.channelId, threadTs: request.cardTs }
  await writeEnd(app, { keyId: issued.key.id, label, requester, request: by, createdAt: now, end, since: now, ...place })
  return issued
}

/** The records with what genuine names of keys say besides: the later of two ends holds. `doubtful`: the ids of keys whose names are not genuine. */
export function withNamed(app: App, ends: Map<string, KeyEnd>, keys: ApiKey[], now: number) {
  const named = namedEnds(app.endsKeyring, keys, teamOf(app))
  const current = new Map(ends)
  for (const { id: keyId, createdAt = '' } of keys) {
    const [record, name] = [ends.get(keyId), named.get(keyId)]
    if (!name?.isGenuine || (record && (name.end <= record.end || name.end === record.replaces))) continue
    const { label, requester, request, end } = name
    const created = Date.parse(createdAt)
    current.set(
      keyId,
      record ? { ...record, end, since: now } : { keyId, label, requester, request, createdAt: created, end, since: created },
    )
  }
  return { current, doubtful: keys.flatMap(({ id }) => (named.get(id)?.isGenuine === false && !current.has(id) ? [id] : [])) }
}

/** What is known of the keys of a list that end by themselves. */
export async function knownEnds(app: App, keys: ApiKey[]): Promise<Map<string, KeyEnd>> {
  if (app.config.signsWithApiKey) return new Map()
  const [{ ends }, now] = await Promise.all([readEnds(app), app.store.now()])
  return withNamed(app, ends, keys, now).current
}

/** Notes a later end that the name of the key has on the account. */
export async function recordEnd(app: App, known: KeyEnd, end: number): Promise<void> {
  const [{ ends }, now] = await Promise.all([readEnds(app), app.store.now()])
  const { gone: _, ...record } = ends.get(known.keyId) ?? known
  await writeEnd(app, { ...record, end: Math.max(end, record.end), since: now })
}

/** A key that got a later end is called for again. */
export function messageIdOf({ key: { keyId, end }, told }: KeyEndMessage): string {
  return `key-end-${hash('sha256', JSON.stringify([keyId, end, told])).slice(0, 24)}`
}

/** The facts of a message that is owed. Undefined if Lockkeeper did not write them, or for another message. */
export function genuineMessage(app: App, id: string, facts: string): KeyEndMessage | undefined {
  const found = decode(app, 'key-end-message', Message, facts)
  return found && messageIdOf(found) === id ? found : undefined
}
