import type { z } from 'zod'
import { findEntries } from '../audit/find.ts'
import type { AuditApp } from '../audit/intake.ts'
import type { Keyring } from '../domain/signing.ts'
import type { Redis } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { type Opened, open, type RecordName, readText, replace, seal } from '../redis/sealed.ts'

/** Why a record is not used. */
export type Distrust = 'missing' | 'older' | 'forged' | 'unknown-key'

/** What a process knows of a record, over all its connections: its revisions, the highest of them (0: none), and when it signed the record again. */
export interface Revisions {
  seen: number
  all?: Set<number>
  signedAgainAt?: number
}

/** `follows`: the revision that it was made from. Absent: its content is new. */
interface Revised {
  revision: number
  follows?: number | undefined
}

interface Of<Facts> {
  name: RecordName
  key: string
  schema: z.ZodType<Facts>
  /** What the audit calls changes of the record. These entries have its revision. */
  acts: readonly string[]
}

const clockMarginMs = 60_000
/** How often a process signs a record again: another one may still have its keys in another order. */
const signAgainMs = 60_000

/**
 * A signed record that nobody can remove, or replace by an older one, unnoticed: each has a higher revision than the one before, which the audit has,
 * too. A revision is a time in ms since 1970 by Redis' clock, so it is also higher than those of before a loss of all data.
 */
export function revisedRecord<Facts extends Revised>(
  app: AuditApp & { redis: Redis; keys: Keys },
  keyring: Keyring,
  { name, key, schema, acts }: Of<Facts>,
  known: Revisions,
) {
  const see = (revision: number) => {
    known.seen = Math.max(known.seen, revision)
    known.all = (known.all ?? new Set()).add(revision)
  }

  /** Throws StoreUnavailableError. */
  async function read() {
    // Before the record is read: somebody may change it while the answer is on its way.
    const { seen } = known
    const text = await readText(app.redis, key)
    const opened = open(keyring, name, schema, text)
    const distrust = distrustOf(opened, seen, known.all)
    const facts = opened.is === 'genuine' && !distrust ? opened.facts : undefined
    if (facts) see(facts.revision)
    return { text, facts, distrust, isOutdated: opened.is === 'genuine' && !opened.isCurrent }
  }

  /** Finds changes that this process has not read. `since`: when it knew all of them. */
  async function searchAudit(since: number, now: number): Promise<void> {
    // A clock that was ahead may have missed some.
    const from = since > now ? 0 : since - clockMarginMs
    // An entry that somebody removed may have been a change.
    const onGap = (isEmpty: boolean) => {
      if (!isEmpty || known.seen > 0) see(now)
    }
    const entries = await findEntries(app, ({ act }) => acts.includes(act), { since: from, onGap })
    for (const { verdict, revision = 0 } of entries) if (verdict === 'genuine') see(revision)
  }

  /** Signs what an older key of STATE_KEY signed, so that this key can be removed. Returns whether the record has to be read again. */
  async function signAgain({ text: before, facts, isOutdated }: Awaited<ReturnType<typeof read>>, now: number): Promise<boolean> {
    if (!facts || !isOutdated || now - (known.signedAgainAt ?? 0) < signAgainMs) return false
    known.signedAgainAt = now
    await replace(app, key, { before, after: seal(keyring, name, facts) })
    return true
  }

  return { read, searchAudit, signAgain, see, next: (now: number) => Math.max(now, known.seen + 1) }
}

function distrustOf(found: Opened<Revised>, seen: number, all = new Set<number>()): Distrust | undefined {
  if (found.is === 'none') return seen === 0 ? undefined : 'missing'
  if (found.is === 'unreadable') return 'unknown-key'
  if (found.is !== 'genuine') return 'forged'
  const { revision, follows = revision } = found.facts
  // Somebody put an older one back while it was changed.
  const isOfOlder = [...all].some((each) => follows < each && each < revision)
  return revision < seen || isOfOlder ? 'older' : undefined
}
