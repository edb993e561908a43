import { z } from 'zod'
import type { App } from '../../app.ts'
import type { AuditNote } from '../../audit/chain.ts'
import { owedMessage } from '../../kit/owed-message.ts'
import { type Distrust, type Revisions, revisedRecord } from '../../record/revised.ts'
import type { Keys } from '../../redis/key-names.ts'
import { readClock } from '../../redis/scripts.ts'
import { replace, seal } from '../../redis/sealed.ts'
import type { Mrkdwn } from '../../slack/text.ts'

/** A trusted passkey. `by`: whose it is. `publicKey`: COSE, as base64url, like `id`. Times are in ms since 1970 by Redis' clock. */
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

const PasskeysRecord = z.object({ revision: z.int(), follows: z.int().optional(), passkeys: z.array(Passkey) })

export const distrustWords: Record<Distrust, string> = {
  missing: 'gone',
  older: 'older than the last one',
  forged: 'not one that Lockkeeper wrote',
  'unknown-key': 'signed with a key that STATE_KEY lacks',
}

/** With `distrust`, nobody has a passkey. */
export interface Found {
  text: string
  now: number
  revision: number
  follows?: number | undefined
  passkeys: Passkey[]
  distrust: Distrust | undefined
}

/** What the program `trust` has, too. */
export type PasskeysApp = Pick<App, 'redis' | 'keys' | 'recordKeyring' | 'audit'>

/** `searchedAt`: when the audit was searched for changes. */
interface Memory extends Revisions {
  searchedAt?: number
}

/** What a process knows of the record, over all its connections, which share their names of keys. */
const memories = new WeakMap<Keys, Memory>()

const acts = ['passkey-add', 'passkey-trust', 'passkey-remove'] as const

function storedIn(app: PasskeysApp) {
  const { keys, recordKeyring } = app
  const memory = memories.get(keys) ?? { seen: 0 }
  memories.set(keys, memory)
  const kind = { name: 'passkeys', key: keys.passkeys, schema: PasskeysRecord, acts } as const
  return { memory, stored: revisedRecord(app, recordKeyring, kind, memory) }
}

/** Each time, the audit is searched for changes that this process has not read. Throws StoreUnavailableError. */
export async function readPasskeys(app: PasskeysApp): Promise<Found> {
  const { memory, stored } = storedIn(app)
  const now = await readClock(app)
  // The first search begins with the record that is there.
  await stored.searchAudit(memory.searchedAt ?? (await stored.read()).facts?.revision ?? 0, now)
  memory.searchedAt = now
  const found = await stored.read()
  if (await stored.signAgain(found, now)) return readPasskeys(app)
  const { text, facts = { revision: 0, passkeys: [] }, distrust } = found
  return { text, now, ...facts, distrust }
}

export function passkeysOf({ passkeys }: Pick<Found, 'passkeys'>, userId: string): Passkey[] {
  return passkeys.filter(({ by }) => by === userId)
}

/** The sender that is owed once a passkey no longer counts. It sends nothing, and lets requests be judged again. */
export const passkeysLost = 'passkeys-lost'

/** Undefined if it is there, or if the person has as many as they may. */
export function withOne(all: Passkey[], passkey: Passkey): Passkey[] | undefined {
  const isKnown = all.some(({ id }) => id === passkey.id)
  return isKnown || passkeysOf({ passkeys: all }, passkey.by).length >= mostPasskeys ? undefined : [...all, passkey]
}

/** Undefined if it is gone. */
export function withoutOne(all: Passkey[], passkey: Passkey): Passkey[] | undefined {
  return isIn(all, passkey) ? all.filter((each) => !isIn([each], passkey)) : undefined
}

export function isIn(all: Passkey[], { id, publicKey, by }: Passkey): boolean {
  return all.some((each) => each.id === id && each.publicKey === publicKey && each.by === by)
}

/**
 * Changes the record, with an audit entry and the words to the operators and to others in the same step. `next` gets the passkeys as they are, and
 * returns undefined to leave them. `startsOver`: a record that can't be trusted is replaced by an empty one. Without a note, only the count of uses
 * changes: the revision stays, so that a failover that loses a count loses no passkey. Returns whether it was changed.
 */
export async function changePasskeys(
  app: PasskeysApp,
  next: (passkeys: Passkey[]) => Passkey[] | undefined,
  note?: Pick<AuditNote, 'by' | 'text'> & { act: (typeof acts)[number] },
  { words, to = [], startsOver = false }: { words?: Mrkdwn; to?: string[]; startsOver?: boolean } = {},
): Promise<boolean> {
  const { stored } = storedIn(app)
  for (;;) {
    const { distrust, passkeys, now, text: before, ...last } = await readPasskeys(app)
    const after = distrust === 'unknown-key' || (distrust && !startsOver) ? undefined : next(passkeys)
    if (!after) return false
    const revision = note ? stored.next(now) : last.revision
    const follows = note ? (distrust ? undefined : last.revision) : last.follows
    const texts = { before, after: seal(app.recordKeyring, 'passkeys', { revision, follows, passkeys: after }) }
    const told = words ? [undefined, ...new Set(to)].map((each) => owedMessage(app, 'passkeys', { to: each, words: words.text })) : []
    const isLess = distrust !== undefined || after.length < passkeys.length
    const owes = isLess ? [...told, owedMessage(app, passkeysLost, { words: '' })] : told
    const change = (text?: string) => replace(app, app.keys.passkeys, texts, { note: text, owes })
    const outcome = await (note ? app.audit.noteWith({ ...note, revision }, change) : change())
    if (outcome === 'changed') continue
    stored.see(revision)
    return true
  }
}
