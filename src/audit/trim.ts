import { randomUUID } from 'node:crypto'
import { guardStore } from '../redis/connect.ts'
import { claim } from '../redis/scripts.ts'
import { AuditEntry, createVerifier, startOfProcess, timeOf } from './chain.ts'
import { entries, findEntries, parseFields, verdictOf } from './find.ts'
import { type AuditApp, note } from './intake.ts'

const dayMs = 24 * 3_600_000

/** How long Redis keeps an entry. Collected logs keep the printed lines for longer. */
const keepMs = 400 * dayMs

/** How far the clock of a process may be ahead of Redis' clock. */
const clockOffMs = 3_600_000

/**
 * Removes entries older than 400 days, once a day in one of all processes. A signed note names the last of them before they are removed, so nobody
 * else can remove entries from the beginning of the chain without being noticed.
 */
export async function trim(app: AuditApp): Promise<void> {
  const { redis, keys } = app.audit
  const [[oldest], [seconds]] = await guardStore(() => Promise.all([redis.xrange(keys.audit, '-', '+', 'COUNT', 1), redis.time()]))
  const keptSince = Number(seconds) * 1_000 - keepMs
  if (!oldest || timeOf(oldest[0]) >= keptSince) return
  if ((await claim(redis, keys.auditTrim, { token: randomUUID(), lastsMs: dayMs })) !== undefined) return
  const { last, fault } = await findRemovable(app, keptSince)
  if (fault !== undefined) await tellOnce(app, fault, last !== undefined)
  if (!last) return
  await note(app, { act: 'trim', through: last.seq, keptSince, text: fault })
  const noted = await findEntries(app, ({ act, through }) => act === 'trim' && through === last.seq, { limit: 1 })
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
