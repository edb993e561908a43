import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type Audit, createAudit } from '../../src/audit/audit.ts'
import { AuditEntry, createVerifier, hashOf, readPrintedLine } from '../../src/audit/chain.ts'
import { findEntries } from '../../src/audit/find.ts'
import { auditScripts } from '../../src/audit/intake.ts'
import { auditSigning } from '../given/audit.ts'
import { connectTestRedis } from '../given/redis.ts'

type TestRedis = ReturnType<typeof connectTestRedis>

/** An audit whose printed lines and errors are recorded. */
function startAudit({ redis, keys }: Pick<TestRedis, 'redis' | 'keys'>, print?: (line: string) => void) {
  const lines: string[] = []
  const errors: unknown[] = []
  const forged = vi.fn()
  const audit = createAudit({
    redis,
    keys,
    print: print ?? ((line) => void lines.push(line)),
    ...auditSigning(),
    onError: (error) => void errors.push(error),
    onNotGenuine: forged,
  })
  return { ...audit, lines, errors, forged }
}

async function readChain({ redis, keys }: TestRedis) {
  const texts = (await redis.xrange(keys.audit, '-', '+')).map(([, [, text = '']]) => text)
  const verifier = createVerifier()
  return {
    texts,
    entries: texts.map((text) => AuditEntry.parse(JSON.parse(text))),
    faults: texts.flatMap((text) => verifier.next(text) ?? []),
  }
}

async function untilChained({ redis, keys }: TestRedis, audit: Pick<Audit, 'tidy'>) {
  const isEmpty = async () => {
    await audit.tidy()
    expect(await redis.xlen(keys.auditIntake)).toBe(0)
  }
  await vi.waitFor(isEmpty, { timeout: 30_000 })
}

test('concurrent notes of two processes form one whole chain, and each is chained and printed once', async () => {
  const mine = connectTestRedis()
  const another = mine.redis.duplicate()
  onTestFinished(() => another.disconnect())
  const [first, second] = [startAudit(mine), startAudit({ ...mine, redis: another })]

  const names = Array.from({ length: 300 }, (_, index) => `note ${index}`)
  await Promise.all(
    names.map(async (what, index) => {
      await sleep(Math.random() * 150)
      await (index % 2 === 0 ? first : second).note({ act: 'request', text: what })
      // Both processes try to chain at the same moment.
      await second.chained()
    }),
  )
  await untilChained(mine, first)

  const { entries, texts, faults } = await readChain(mine)
  expect(faults).toEqual([])
  expect(entries.map(({ text }) => text).toSorted()).toEqual(names.toSorted())
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1))
  await vi.waitFor(() => expect(first.lines.length + second.lines.length).toBe(names.length))
  const printed = [...first.lines, ...second.lines].map(readPrintedLine).toSorted((a, b) => (a?.seq ?? 0) - (b?.seq ?? 0))
  expect(printed).toEqual(texts.map((entry, index) => ({ entry, at: JSON.parse(entry).at, hash: hashOf(entry), seq: index + 1 })))
  expect([...first.errors, ...second.errors]).toEqual([])
})

test('entries of a process that ended before it printed them are printed later by another', async () => {
  const mine = connectTestRedis()
  const dying = startAudit(mine, () => {
    throw new Error('gone')
  })
  const other = startAudit(mine)
  await dying.note({ act: 'request', text: 'before it died' })
  await vi.waitFor(async () => expect(await mine.redis.xlen(mine.keys.audit)).toBe(1))
  await vi.waitFor(() => expect(dying.errors).toHaveLength(1))

  // Another process continues and prints its own entries.
  await other.note({ act: 'approve', text: 'afterwards' })
  await vi.waitFor(() => expect(other.lines.map(textOf)).toEqual(['afterwards']))
  await other.tidy()
  expect(other.lines.map(textOf)).toEqual(['afterwards'])
  await letHalfAMinutePass(mine)
  await other.tidy()
  await other.tidy()

  expect(other.lines.map(textOf)).toEqual(['afterwards', 'before it died'])
})

function textOf(line: string): unknown {
  return JSON.parse(line).text
}

/** Makes the entries older by half a minute: copies them with older ids. */
async function letHalfAMinutePass({ redis, keys }: TestRedis): Promise<void> {
  const head = await redis.hgetall(keys.auditHead)
  const all = await redis.xrange(keys.audit, '-', '+')
  const older = (id: string) => id.replace(/^\d+/, (ms) => String(Number(ms) - 31_000))
  await redis.del(keys.audit)
  for (const [id, fields] of all) await redis.xadd(keys.audit, older(id), ...fields)
  for (const [name, range] of Object.entries(head)) {
    if (name.startsWith('unprinted:')) await redis.hset(keys.auditHead, name, range.split(' ').map(older).join(' '))
  }
}

test('a command that is sent twice stores a note once, and chains it once', async () => {
  const { redis, keys } = connectTestRedis()
  const run = auditScripts.bind(undefined, redis)
  const note = () => run('note', [keys.auditIntake, keys.auditSent('same')], ['{"act":"request","at":1}', '60000'])
  expect([await note(), await note()]).toEqual([['noted'], ['noted']])
  const [[id = ''] = [], ...others] = await redis.xrange(keys.auditIntake, '-', '+')
  expect(others).toEqual([])

  const append = (token: string) =>
    run('append', [keys.auditIntake, keys.audit, keys.auditHead], ['', 'hash-1', '1', token, '', 'entry-1', id])
  // Another process has computed the same append.
  const won = await append('mine')
  expect([won, await append('mine'), await append('of another')]).toEqual([
    ['won', expect.stringMatching(/^\d+-0$/), '', 'entry-1'],
    won,
    ['lost'],
  ])

  expect(await redis.xlen(keys.audit)).toBe(1)
  expect(await redis.hgetall(keys.auditHead)).toMatchObject({ seq: '1', hash: 'hash-1' })
})

test('a text that looks like a token is neither stored nor printed, a long one is cut with a mark, and half a character is replaced', async () => {
  const mine = connectTestRedis()
  const audit = startAudit(mine)

  await audit.note({ act: 'reject', reason: 'the token xoxb-1234-abcd leaked', facts: { at: ['rediss://bot:hunter2@redis.example.com'] } })
  await audit.note({ act: 'reject', reason: `${'a'.repeat(998)}😀 and more` })
  await audit.note({ act: 'reject', reason: 'half an emoji: \ud83d' })
  await untilChained(mine, audit)

  const { entries } = await readChain(mine)
  expect(entries.map(({ reason }) => reason)).toEqual(['the token [redacted] leaked', `${'a'.repeat(998)}\ufffd…`, 'half an emoji: \ufffd'])
  expect(JSON.stringify([entries, audit.lines])).not.toMatch(/xoxb|hunter2/)
})

test('a note that Lockkeeper did not write does not block the others', async () => {
  const mine = connectTestRedis()
  const audit = startAudit(mine)

  await mine.redis.xadd(mine.keys.auditIntake, '*', 'something', 'not JSON')
  await audit.note({ act: 'request' })
  await untilChained(mine, audit)

  const { entries, faults } = await readChain(mine)
  expect(entries).toMatchObject([{ act: 'unreadable', text: 'something not JSON', unverified: 'unsigned' }, { act: 'request' }])
  expect(entries[1]).not.toHaveProperty('unverified')
  expect(audit.forged, 'it counts as not genuine').toHaveBeenCalledTimes(1)
  expect(faults).toEqual([])
})

test('entries are found newest first', async () => {
  const mine = connectTestRedis()
  const audit = startAudit(mine)
  for (const act of ['request', 'approve', 'request', 'reject', 'request']) await audit.note({ act })

  const seqs = async (search = {}) => (await findEntries({ audit }, ({ act }) => act === 'request', search)).map(({ seq }) => seq)

  expect(await seqs()).toEqual([5, 3, 1])
  expect(await seqs({ searched: 4 })).toEqual([5, 3])
})
