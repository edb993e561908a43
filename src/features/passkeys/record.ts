import { z } from 'zod'
import type { App } from '../../app.ts'
import type { AuditNote } from '../../audit/chain.ts'
import { findEntries } from '../../audit/find.ts'
import { guardStore } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { type OwedFacts, open, readText, replace, seal } from '../../redis/sealed.ts'

/** A passkey that somebody trusted. `by`: whose it is. `publicKey`: COSE, as base64url, like `id`. Times are in ms since 1970 by Redis' clock. */
export const Passkey = z.object({
  id: z.string(),
  by: z.string(),
  publicKey: z.string(),
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

/** Why the record is not believed. Then nobody has a passkey until somebody with STATE_KEY trusts one again. */
export type Distrust = 'missing' | 'older' | 'forged' | 'unknown-key'

export interface Found {
  text: string
  now: number
  revision: number
  passkeys: Passkey[]
  distrust: Distrust | undefined
}

/** What the program `trust` has, too. */
export type PasskeysApp = Pick<App, 'redis' | 'keys' | 'recordKeyring' | 'audit'>

/** `seen`: the highest revision. `look`: at the audit, once in each process. */
interface Memory {
  seen: number
  look?: Promise<void> | undefined
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
  memory.look ??= lookAtAudit(app, memory).catch((error: unknown) => {
    memory.look = undefined
    throw error
  })
  await memory.look
  // Before the record is read: somebody may change it while the answer is on its way.
  const { seen } = memory
  const { text, now, opened } = await readRecord(app)
  const nothing = { text, now, revision: 0, passkeys: [] }
  if (opened.is === 'none') return { ...nothing, distrust: seen === 0 ? undefined : 'missing' }
  if (opened.is !== 'genuine') return { ...nothing, distrust: opened.is === 'unreadable' ? 'unknown-key' : 'forged' }
  const { revision, passkeys } = opened.facts
  if (revision < seen) return { ...nothing, distrust: 'older' }
  memory.seen = Math.max(memory.seen, revision)
  if (!opened.isCurrent && now - memory.signedAgainAt > signAgainMs) {
    memory.signedAgainAt = now
    await replace(app, app.keys.passkeys, { before: text, after: seal(app.recordKeyring, 'passkeys', opened.facts) })
    return readPasskeys(app)
  }
  return { text, now, revision, passkeys, distrust: undefined }
}

export function passkeysOf({ passkeys }: Pick<Found, 'passkeys'>, userId: string): Passkey[] {
  return passkeys.filter(({ by }) => by === userId)
}

/** Undefined if it is there, or if the person has as many as they may. */
export function withOne(all: Passkey[], passkey: Passkey): Passkey[] | undefined {
  const isKnown = all.some(({ id }) => id === passkey.id)
  return isKnown || passkeysOf({ passkeys: all }, passkey.by).length >= mostPasskeys ? undefined : [...all, passkey]
}

async function readRecord({ redis, keys, recordKeyring }: PasskeysApp) {
  const [text, now] = await Promise.all([readText(redis, keys.passkeys), timeOf({ redis })])
  return { text, now, opened: open(recordKeyring, 'passkeys', PasskeysRecord, text) }
}

/** Finds what was changed after the record that is there: one that was put back, or removed, while no process ran. Its revision is a time. */
async function lookAtAudit(app: PasskeysApp, memory: Memory): Promise<void> {
  const { opened, now } = await readRecord(app)
  const since = opened.is === 'genuine' && opened.facts.revision <= now ? opened.facts.revision - clockMarginMs : 0
  const entries = await findEntries(app, ({ act }) => act.startsWith('passkey-'), { since })
  const revisions = entries.flatMap(({ verdict, revision = 0 }) => (verdict === 'genuine' ? [revision] : []))
  memory.seen = Math.max(memory.seen, ...revisions)
}

/**
 * Changes the record, with an audit entry and the messages about it in the same step. `next` gets the passkeys as they are, and returns undefined to
 * leave them. `anew`: a record that is not believed is replaced by one that begins with none. Returns whether it was changed.
 */
export async function changePasskeys(
  app: PasskeysApp,
  next: (passkeys: Passkey[]) => Passkey[] | undefined,
  note: Pick<AuditNote, 'by' | 'text' | 'channelId'> & { act: 'passkey-add' | 'passkey-trust' | 'passkey-remove' },
  { owes = [], anew = false }: { owes?: OwedFacts[]; anew?: boolean } = {},
): Promise<boolean> {
  for (;;) {
    const { distrust, passkeys, now, text: before, revision: last } = await readPasskeys(app)
    const after = distrust === 'unknown-key' || (distrust && !anew) ? undefined : next(passkeys)
    if (!after) return false
    const revision = Math.max(now, memoryOf(app).seen + 1, last + 1)
    const sealed = seal(app.recordKeyring, 'passkeys', { revision, passkeys: after })
    const place = app.keys.passkeys
    const outcome = await app.audit.noteWith({ ...note, revision }, (text) =>
      replace(app, place, { before, after: sealed }, { note: text, owes }),
    )
    if (outcome === 'changed') continue
    memoryOf(app).seen = Math.max(memoryOf(app).seen, revision)
    return true
  }
}

/** The revision stays, so that a failover that loses a count loses no trust. */
export async function countUse(app: PasskeysApp, { id, by }: Passkey, counter: number): Promise<void> {
  for (;;) {
    const { text, revision, passkeys } = await readPasskeys(app)
    const counted = passkeys.map((each) => (each.id === id && each.by === by && each.counter < counter ? { ...each, counter } : each))
    const after = seal(app.recordKeyring, 'passkeys', { revision, passkeys: counted })
    if (after === text || revision === 0 || (await replace(app, app.keys.passkeys, { before: text, after })) !== 'changed') return
  }
}

/** In ms since 1970, by Redis' clock. */
export async function timeOf({ redis }: Pick<PasskeysApp, 'redis'>): Promise<number> {
  const [seconds, microseconds] = await guardStore(() => redis.time())
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000)
}
