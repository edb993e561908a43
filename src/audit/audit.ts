import { hash, randomUUID } from 'node:crypto'
import { guardStore } from '../redis/connect.ts'
import { claim } from '../redis/scripts.ts'
import { AuditEntry, type AuditNote, createVerifier, timeOf } from './chain.ts'
import { entries, findEntries, parseFields, verdictOf } from './find.ts'
import { type AuditApp, createIntake, type IntakeOptions, note } from './intake.ts'

/**
 * Notes the first of what can be repeated without end, on each request or key, so that nobody can fill Redis. Repeats within `quietMs` are not noted. A
 * refusal is the same for any text that was typed, because there is no end of them.
 */
async function noteOnce(app: AuditApp, what: AuditNote, quietMs: number): Promise<void> {
  const { act, by, attempted, kind, requestId, resourceId, causes = [] } = what
  const same = JSON.stringify([act, by, attempted, kind, requestId, resourceId, ...causes.map(({ code }) => code)])
  await note(app, what, { mark: app.audit.keys.auditSent(hash('sha256', same)), lastsMs: quietMs })
}

/** Chains and prints what other processes have left, and removes old entries. Throws StoreUnavailableError. */
async function tidyAudit(app: AuditApp): Promise<void> {
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
  await note(app, { act: 'trim', through: last.seq, text: fault })
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
 * somebody who can write to Redis can change them. So an entry may be removed only if the next one follows it, and it was signed before `time`.
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
    const { seq, signedAt = 0, unverified } = entry
    if (signedAt > time + clockOffMs) fault ??= `Entry ${seq} seems to be older than its note.`
    if (signedAt > time) break
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
    noteOnce: (what: AuditNote, quietMs: number) => noteOnce(app, what, quietMs),
    tidy: () => tidyAudit(app),
  }
}
export type Audit = ReturnType<typeof createAudit>
