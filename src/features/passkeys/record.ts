import { z } from 'zod'
import type { App } from '../../app.ts'
import type { AuditNote } from '../../audit/chain.ts'
import { findEntries } from '../../audit/find.ts'
import { owedMessage } from '../../kit/owed-message.ts'
import { guardStore } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { type Opened, type OwedFacts, open, readText, replace, seal } from '../../redis/sealed.ts'
import { Refusal } from '../../slack/errors.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text.ts'

/** A passkey that somebody trusted. `by`: whose it is. `publicKey`: COSE, as base64url, like `id`. Times are in ms since 1970 by Redis' clock. */
export const Passkey = z.object({
  id: z.string(),
  by: z.string(),
  publicKey: z.string(),
  /** The host at which it was made, and works. */
  rpId: z.string(),
  /** What the person called it. */
  name: z.string(),
  transports: z.array(z.string()).optional(),
  /** How often it was used, as it counts itself. Most count nothing, and say 0. */
  counter: z.number(),
  addedAt: z.number(),
})
export type Passkey = z.infer<typeof Passkey>

export const mostPasskeys = 5

const PasskeysRecord = z.object({
  /** When it was changed, or one more than the last: no record from before, even if all data was lost since, has a higher one. */
  revision: z.int(),
  passkeys: z.array(Passkey),
})

/** Why the record is not believed. */
export type Distrust = 'missing' | 'older' | 'forged' | 'unknown-key'

export const distrustWords = {
  missing: 'gone',
  older: 'older than the last one',
  forged: 'not one that Lockkeeper wrote',
  'unknown-key': 'signed with a key that STATE_KEY lacks',
}

export interface Found {
  text: string
  now: number
  revision: number
  passkeys: Passkey[]
  /** Then nobody has a passkey. */
  distrust: Distrust | undefined
}

/** What the program `trust` has, too. */
export type PasskeysApp = Pick<App, 'redis' | 'keys' | 'recordKeyring' | 'audit'>

/** `seen`: the highest revision. `lookedAt`: when the audit was searched for changes. */
interface Memory {
  seen: number
  lookedAt?: number
  signedAgainAt: number
}

/** What a process knows of the record, over all its connections, which share their names of keys. */
const memories = new WeakMap<Keys, Memory>()

function memoryOf({ keys }: PasskeysApp): Memory {
  const memory = memories.get(keys) ?? { seen: 0, signedAgainAt: 0 }
  memories.set(keys, memory)
  return memory
}

const clockMarginMs = 60_000
/** How often a process signs the record again: another one may still have its keys in another order. */
const signAgainMs = 60_000

/** What is forged, gone, or older than a revision that this process or the audit knows is not believed. Throws StoreUnavailableError. */
export async function readPasskeys(app: PasskeysApp): Promise<Found> {
  const memory = memoryOf(app)
  await lookAtAudit(app, memory)
  // Before the record is read: somebody may change it while the answer is on its way.
  const { seen } = memory
  const { text, now, opened } = await readRecord(app)
  const distrust = distrustOf(opened, seen)
  if (opened.is !== 'genuine' || distrust) return { text, now, revision: 0, passkeys: [], distrust }
  const { revision, passkeys } = opened.facts
  memory.seen = Math.max(memory.seen, revision)
  if (!opened.isCurrent && now - memory.signedAgainAt > signAgainMs) {
    memory.signedAgainAt = now
    await replace(app, app.keys.passkeys, { before: text, after: seal(app.recordKeyring, 'passkeys', opened.facts) })
    return readPasskeys(app)
  }
  return { text, now, revision, passkeys, distrust: undefined }
}

async function readRecord({ redis, keys, recordKeyring }: PasskeysApp) {
  const [text, now] = await Promise.all([readText(redis, keys.passkeys), timeOf({ redis })])
  return { text, now, opened: open(recordKeyring, 'passkeys', PasskeysRecord, text) }
}

function distrustOf(found: Opened<z.infer<typeof PasskeysRecord>>, seen: number): Distrust | undefined {
  if (found.is === 'none') return seen === 0 ? undefined : 'missing'
  if (found.is === 'unreadable') return 'unknown-key'
  if (found.is !== 'genuine') return 'forged'
  return found.facts.revision < seen ? 'older' : undefined
}

/** Finds changes that this process has not read: since its last look or, at the first one, since the record that is there. A revision is a time. */
async function lookAtAudit(app: PasskeysApp, memory: Memory): Promise<void> {
  const { opened, now } = await readRecord(app)
  const before = memory.lookedAt ?? (opened.is === 'genuine' ? opened.facts.revision : 0)
  // A clock that was ahead may have missed some.
  const since = before > now ? 0 : before - clockMarginMs
  const entries = await findEntries(app, ({ act }) => act.startsWith('passkey-'), { since })
  for (const { verdict, revision = 0 } of entries) if (verdict === 'genuine') memory.seen = Math.max(memory.seen, revision)
  memory.lookedAt = now
}

export function passkeysOf({ passkeys }: Pick<Found, 'passkeys'>, userId: string): Passkey[] {
  return passkeys.filter(({ by }) => by === userId)
}

/** A message that a script owes in the same step in which it changes the passkeys. `to`: a channel or a person. Default: the operators. */
export function oweWords(app: Pick<App, 'recordKeyring'>, words: Mrkdwn, to?: string): OwedFacts {
  return owedMessage(app, 'passkeys', { to, words: words.text })
}

export function requireRoom(found: Pick<Found, 'passkeys'>, userId: string): void {
  if (passkeysOf(found, userId).length >= mostPasskeys)
    throw new Refusal('too-many-passkeys', mrkdwn`You have ${mostPasskeys} passkeys, which is the limit. Remove one first.`)
}

/** Undefined if it is there, or if the person has as many as they may. */
export function withOne(all: Passkey[], passkey: Passkey): Passkey[] | undefined {
  const isKnown = all.some(({ id }) => id === passkey.id)
  return isKnown || passkeysOf({ passkeys: all }, passkey.by).length >= mostPasskeys ? undefined : [...all, passkey]
}

/** Undefined if it is gone. */
export function withoutOne(all: Passkey[], passkey: Passkey): Passkey[] | undefined {
  return isIn(all, passkey) ? all.filter((each) => !isIn([each], passkey)) : undefined
}

export function isIn(all: Passkey[], { id, by }: Pick<Passkey, 'id' | 'by'>): boolean {
  return all.some((each) => each.id === id && each.by === by)
}

/**
 * Changes the record, with an audit entry and the messages about it in the same step. `next` gets the passkeys as they are, and returns undefined to
 * leave them. `anew`: a record that is not believed is replaced by one that begins with none. Without a note, only the count of uses changes: the
 * revision stays, so that a failover that loses a count loses no trust. Returns whether it was changed.
 */
export async function changePasskeys(
  app: PasskeysApp,
  next: (passkeys: Passkey[]) => Passkey[] | undefined,
  note?: Pick<AuditNote, 'by' | 'text' | 'channelId'> & { act: 'passkey-add' | 'passkey-trust' | 'passkey-remove' },
  { owes = [], anew = false }: { owes?: OwedFacts[]; anew?: boolean } = {},
): Promise<boolean> {
  for (;;) {
    const { distrust, passkeys, now, text: before, revision: last } = await readPasskeys(app)
    const after = distrust === 'unknown-key' || (distrust && !anew) ? undefined : next(passkeys)
    if (!after) return false
    const memory = memoryOf(app)
    const revision = note ? Math.max(now, memory.seen + 1, last + 1) : last
    const change = { before, after: seal(app.recordKeyring, 'passkeys', { revision, passkeys: after }) }
    const place = app.keys.passkeys
    const outcome = note
      ? await app.audit.noteWith({ ...note, revision }, (text) => replace(app, place, change, { note: text, owes }))
      : await replace(app, place, change)
    if (outcome === 'changed') continue
    memory.seen = Math.max(memory.seen, revision)
    return true
  }
}

/** In ms since 1970, by Redis' clock. */
export async function timeOf({ redis }: Pick<PasskeysApp, 'redis'>): Promise<number> {
  const [seconds, microseconds] = await guardStore(() => redis.time())
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000)
}
