import { randomUUID } from 'node:crypto'
import type { Keyring } from '../domain/signing.ts'
import { guardStore } from '../redis/connect.ts'
import { claim } from '../redis/scripts.ts'
import { AuditEntry, AuditNote, createVerifier, startOfProcess, timeOf, verifyNote } from './chain.ts'
import { entries, findEntries, parseFields, verdictOf } from './find.ts'
import { type AuditApp, createIntake, type IntakeOptions, note } from './intake.ts'

/** What may be noted with a count, and for how long its repeats are counted. */
const countedMs: Record<string, number> = { refused: 10 * 60_000, distrust: 24 * 3_600_000 }

/**
 * Notes the first of what can be repeated without end, and later the number of its repeats, so that nobody can fill Redis. `byRequest`: each request
 * counts by itself.
 */
async function noteCounted(app: AuditApp, what: AuditNote, { byRequest }: { byRequest: boolean }): Promise<void> {
  const { audit } = app
  const about = what.requestId ?? what.text ?? ''
  const mark = audit.keys.auditSent(randomUUID())
  const count = async (text: string) => {
    const values = [countKeyOf(what, byRequest), about, text, String(countedMs[what.act])]
    return (await audit.run('count', [audit.keys.auditIntake, audit.keys.auditCounts, mark], values))[0]
  }
  const counted = await count('')
  if (counted === 'counted') return
  if (counted === 'over') await noteCounts(app)
  await audit.noteWith(what, count, (outcome) => (outcome === 'noted' ? 'written' : 'not-written'))
}

/** A refusal is the same for any text that was typed, because there is no end of them. */
function countKeyOf({ act, by, attempted, kind, requestId, causes = [] }: AuditNote, byRequest: boolean): string {
  return JSON.stringify([act, by, attempted, kind, byRequest ? requestId : undefined, ...causes.map(({ code }) => code)])
}

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

const dayMs = 24 * 3_600_000

/** How long Redis keeps an entry. Collected logs keep the printed lines for longer. */
const keepMs = 400 * dayMs

/** How far the clock of a process may be ahead of Redis' clock. */
const clockOffMs = 3_600_000

/** Once a day in one process. A signed note names the last entry before they are removed, so nobody else can remove entries unnoticed. */
async function trim(app: AuditApp): Promise<void> {
  const { redis, keys } = app.audit
  const [[oldest], [seconds]] = await guardStore(() => Promise.all([redis.xrange(keys.audit, '-', '+', 'COUNT', 1), redis.time()]))
  // Both clocks must say that it is old: if one of them is wrong, nothing is removed early.
  const keptSince = Math.min(Number(seconds) * 1_000, Date.now()) - keepMs
  if (!oldest || timeOf(oldest[0]) >= keptSince) return
  if ((await claim(redis, keys.auditTrim, { token: randomUUID(), lastsMs: dayMs })) !== undefined) return
  const { last, fault } = await findRemovable(app, keptSince)
  if (fault !== undefined) await tellOnce(app, fault, last !== undefined)
  if (!last) return
  await note(app, { act: 'trim', through: last.seq, keptSince, text: fault })
  const noted = await findEntries(app, ({ act, through }) => act === 'trim' && through === last.seq, { searched: 1_000 })
  if (noted[0]?.verdict !== 'genuine') return
  const [ms, count] = last.id.split('-').map(Number)
  await guardStore(() => redis.xtrim(keys.audit, 'MINID', `${ms}-${(count ?? 0) + 1}`))
}

async function tellOnce({ audit }: AuditApp, fault: string, areRemoved: boolean): Promise<void> {
  if ((await guardStore(() => audit.redis.hget(audit.keys.auditHead, 'fault'))) === fault) return
  await audit.onDamaged(fault, areRemoved)
  await guardStore(() => audit.redis.hset(audit.keys.auditHead, 'fault', fault))
}

interface OldEntry {
  seq: number
  id: string
}

/**
 * Finds the last of the entries that may be removed, and the first fault among them. The ids in the stream say when an entry was chained, but
 * somebody who can write to Redis can change them. So an entry may be removed only if the next one follows it, and its process began before `time`.
 * After a fault, its signature must be genuine, too: then it shows that the damaged entries before it are as old.
 */
async function findRemovable(app: AuditApp, time: number): Promise<{ last?: OldEntry; fault?: string }> {
  const verifier = createVerifier()
  let before: (OldEntry & { isGenuine: boolean }) | undefined
  let last: OldEntry | undefined
  let lastGenuine: OldEntry | undefined
  let fault: string | undefined

  for await (const { id, text } of entries(app, 'xrange')) {
    const broken = verifier.next(text)
    fault ??= broken
    if (before && broken === undefined) {
      last = before
      if (before.isGenuine) lastGenuine = before
    }
    const fields = parseFields(text)
    const entry = AuditEntry.safeParse(fields).data
    before = undefined
    if (timeOf(id) >= time) break
    if (!fields || !entry) continue
    const { seq, process = '', unverified } = entry
    const began = startOfProcess(process)
    if (began > time + clockOffMs) fault ??= `Entry ${seq} seems to be older than the process that noted it.`
    if (began > time) break
    const verdict = verdictOf(app, text, fields)
    if (verdict === 'forged' && unverified === undefined) fault ??= `Entry ${seq} is not genuine: its signature doesn't match.`
    before = { seq, id, isGenuine: verdict === 'genuine' }
  }
  return { last: fault === undefined ? last : lastGenuine, fault }
}

export function createAudit(options: IntakeOptions) {
  const audit = createIntake(options)
  const app = { audit }
  return {
    ...audit,
    note: (what: AuditNote) => note(app, what),
    noteCounted: (what: AuditNote, counted: { byRequest: boolean }) => noteCounted(app, what, counted),
    tidy: () => tidyAudit(app),
  }
}
export type Audit = ReturnType<typeof createAudit>
