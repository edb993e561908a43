import { randomUUID } from 'node:crypto'
import type { Keyring } from '../domain/signing.ts'
import { guardStore } from '../redis/connect.ts'
import { AuditNote, verifyNote } from './chain.ts'
import { type AuditApp, createIntake, type IntakeOptions, note } from './intake.ts'
import { trim } from './trim.ts'

/** What may be noted with a count, and for how long its repeats are counted. */
const countedMs: Record<string, number> = { refused: 10 * 60_000, distrust: 24 * 3_600_000 }

/**
 * Notes what can be repeated without end: a refusal, or that a request cannot be trusted. The first one is noted at once. Its repeats are counted in
 * Redis, and then noted once, with their number. So nobody can fill Redis, or slow the search of the audit. A process that dies leaves the count to
 * the next one.
 */
async function noteCounted(app: AuditApp, what: AuditNote): Promise<void> {
  const { audit } = app
  const about = what.requestId ?? what.text ?? ''
  const mark = audit.keys.auditSent(randomUUID())
  const count = async (text: string) => {
    const values = [countKeyOf(what), about, text, String(countedMs[what.act])]
    return (await audit.run('count', [audit.keys.auditIntake, audit.keys.auditCounts, mark], values))[0]
  }
  const counted = await count('')
  if (counted === 'counted') return
  if (counted === 'over') await noteCounts(app)
  await audit.noteWith(what, count, (outcome) => (outcome === 'noted' ? 'written' : 'not-written'))
}

/** A refusal is the same for any request and any text that was typed, because there is no end of them. */
function countKeyOf({ act, by, attempted, kind, requestId, causes = [] }: AuditNote): string {
  return JSON.stringify([act, by, attempted, kind, act === 'refused' ? undefined : requestId, ...causes.map(({ code }) => code)])
}

/** Notes the repeats whose time is over. Throws StoreUnavailableError. */
async function noteCounts({ audit }: AuditApp): Promise<void> {
  const { redis, keys } = audit
  const counts = Object.entries(await guardStore(() => redis.hgetall(keys.auditCounts)))
  if (counts.length === 0) return
  const now = Number((await audit.run('now', [], []))[0])
  for (const [key, value] of counts) {
    const { repeats, over } = readCount(value, audit.keyring)
    if (over > now) continue
    const mark = keys.auditSent(randomUUID())
    const end = (text: string) => audit.run('end-count', [keys.auditIntake, keys.auditCounts, mark], [key, value, text])
    if (repeats) await audit.noteWith(repeats, end, ([outcome]) => (outcome === 'ended' ? 'written' : 'not-written'))
    else await end('')
  }
}

/**
 * Reads a count. Without `repeats` there were none, or somebody else wrote the count: the first note in it is verified, because Lockkeeper signs
 * what it says once more. `over`: ms since 1970 by Redis' clock.
 */
function readCount(value: string, keyring: Pick<Keyring, 'verify'>): { repeats?: AuditNote; over: number } {
  try {
    const { first, count, over, isMixed } = JSON.parse(value)
    const fields = JSON.parse(first)
    const { process, number, voids, uncertain, signature, ...noted } = fields
    if (!(count > 0) || countedMs[noted.act] === undefined || verifyNote(keyring, fields) !== 'genuine') return { over: Number(over) || 0 }
    const { act, by, attempted, kind, causes } = noted
    // What the repeats have in common.
    return { repeats: AuditNote.parse({ ...(isMixed ? { act, by, attempted, kind, causes } : noted), count }), over: Number(over) || 0 }
  } catch {
    return { over: 0 }
  }
}

/** Notes repeats, chains and prints what other processes have left, and removes old entries. Throws StoreUnavailableError. */
async function tidyAudit(app: AuditApp): Promise<void> {
  await noteCounts(app)
  await app.audit.chained()
  await app.audit.printLeftOver()
  await trim(app)
}

/** Creates an intake, with the functions of the audit for it. */
export function createAudit(options: IntakeOptions) {
  const audit = createIntake(options)
  const app = { audit }
  return {
    ...audit,
    note: (what: AuditNote) => note(app, what),
    noteCounted: (what: AuditNote) => noteCounted(app, what),
    tidy: () => tidyAudit(app),
  }
}
export type Audit = ReturnType<typeof createAudit>
