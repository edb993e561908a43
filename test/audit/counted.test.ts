import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { createAudit } from '../../src/audit/audit.ts'
import { type AuditNote, parseEntry } from '../../src/audit/chain.ts'
import { findEntries } from '../../src/audit/find.ts'
import { auditScripts } from '../../src/audit/intake.ts'
import { checkAudit } from '../../src/audit/verification.ts'
import { auditSigning } from '../requests/audit-for-test.ts'
import { connectTestRedis } from '../requests/redis-for-test.ts'

/** A guest who wants to use Lockkeeper. */
const guest: AuditNote = { act: 'refused', by: 'U0DOV00001', attempted: 'read', text: 'command servers', causes: [{ code: 'guest' }] }

/** Ada, who wants to approve what she requested. */
const own: AuditNote = {
  act: 'refused',
  by: 'U0ADA00001',
  attempted: 'decide',
  kind: 'ip.move',
  requestId: 'a'.repeat(32),
  resource: 'elastic_ip:eip_1',
  causes: [{ code: 'own-request' }],
}

const bundled = { byRequest: false }
const byRequest = { byRequest: true }

/** Two processes that refuse. */
function startTwo() {
  const { redis, keys, prefix } = connectTestRedis()
  const another = redis.duplicate()
  onTestFinished(() => another.disconnect())
  const start = (connection: typeof redis, process: string) =>
    createAudit({
      redis: connection,
      keys,
      print: () => {},
      onError: () => {},
      ...auditSigning({ prefix, process: `${new Date().toISOString()}/${process}` }),
    })
  const [first, second] = [start(redis, 'first'), start(another, 'second')]

  async function entries() {
    await vi.waitFor(async () => {
      await second.tidy()
      expect(await redis.xlen(keys.auditIntake)).toBe(0)
    })
    const found = (await redis.xrange(keys.audit, '-', '+')).map(([, [, text = '']]) => parseEntry(text))
    const { output } = await checkAudit(
      { REDIS_URL: inject('redisUrl'), REDIS_PREFIX: prefix, STATE_KEY: 'a-key-for-tests-of-32-characters' },
      [],
    )
    expect(output).toMatch(/genuine/)
    expect(output).not.toMatch(/missing|fault|not genuine/i)
    return found.map((entry) => entry && { by: entry.by, text: entry.text, requestId: entry.requestId, count: entry.count })
  }

  async function letTimePass(): Promise<void> {
    for (const [key, count] of Object.entries(await redis.hgetall(keys.auditCounts)))
      await redis.hset(keys.auditCounts, key, JSON.stringify({ ...JSON.parse(count), over: 1 }))
  }

  return { redis, keys, first, second, entries, letTimePass }
}

test('repeats of a refusal are one entry with their number, noted by another process if the first one died', async () => {
  const { redis, keys, first, second, entries, letTimePass } = startTwo()
  for (let count = 0; count < 100; count += 1) await (count % 2 === 0 ? first : second).noteCounted(guest, bundled)
  expect(await entries()).toEqual([{ by: guest.by, text: guest.text }])

  await letTimePass()

  expect(await entries()).toEqual([
    { by: guest.by, text: guest.text },
    { by: guest.by, text: guest.text, count: 99 },
  ])
  expect(await redis.exists(keys.auditCounts)).toBe(0)
  await letTimePass()
  expect(await entries()).toHaveLength(2)
})

test('of refusals at the same moment, one is noted at once, and the others are counted', async () => {
  const { first, second, entries, letTimePass } = startTwo()
  await Promise.all(Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? first : second).noteCounted(guest, bundled)))
  await second.noteCounted({ ...guest, causes: [{ code: 'other-workspace' }] }, bundled)
  await letTimePass()

  expect((await entries()).map((entry) => entry?.count)).toEqual([undefined, undefined, 39])
})

test('another person, act or cause is another refusal, and another request or word is a repeat, whose entry with their number names none', async () => {
  const another = startTwo()
  const others = [{ by: 'U0BEN00001' }, { attempted: 'withdraw' }, { kind: 'ip.evacuate' }, { causes: [{ code: 'not-an-approver' }] }]
  for (const more of [{}, ...others]) await another.first.noteCounted({ ...own, ...more }, bundled)
  expect(await another.entries()).toHaveLength(5)

  const { first, entries, letTimePass } = startTwo()
  for (const requestId of ['a', 'b', 'c']) await first.noteCounted({ ...own, requestId: requestId.repeat(32) }, bundled)
  for (const word of ['x', 'y']) await first.noteCounted({ ...guest, text: `command ${word}` }, bundled)
  await letTimePass()

  const [ofAda, ofDov, ...repeats] = await entries()
  expect([ofAda, ofDov]).toEqual([
    { by: own.by, requestId: own.requestId },
    { by: guest.by, text: 'command x' },
  ])
  expect(repeats.toSorted((a, b) => Number(b?.count) - Number(a?.count))).toEqual([
    { by: own.by, count: 2 },
    { by: guest.by, count: 1 },
  ])
})

test('of refusals that count by their request, the first on each names it', async () => {
  const { first, entries } = startTwo()
  const ids = ['a', 'b', 'a', 'b'].map((letter) => letter.repeat(32))
  for (const requestId of ids) await first.noteCounted({ ...own, requestId }, byRequest)

  expect((await entries()).map((entry) => entry?.requestId)).toEqual(ids.slice(0, 2))
})

test('that a request cannot be trusted is one entry, however often it is read, and one more with the number of a day', async () => {
  const { first, second, entries, letTimePass } = startTwo()
  const distrusted = { act: 'distrust', requestId: 'a'.repeat(32), causes: [{ code: 'unknown-key' }] }
  for (let count = 0; count < 144; count += 1) await (count % 2 === 0 ? first : second).noteCounted(distrusted, byRequest)
  await first.noteCounted({ ...distrusted, requestId: 'b'.repeat(32) }, byRequest)
  await first.noteCounted({ ...distrusted, causes: [{ code: 'record-changed' }] }, byRequest)
  const once = [distrusted.requestId, 'b'.repeat(32), distrusted.requestId].map((requestId) => ({ requestId }))
  expect(await entries()).toEqual(once)

  await letTimePass()

  expect(await entries()).toEqual([...once, { requestId: distrusted.requestId, count: 143 }])
})

test('a refusal after ten minutes is noted at once, without a worker that has noted the repeats before', async () => {
  const { first, entries, letTimePass } = startTwo()
  for (let count = 0; count < 3; count += 1) await first.noteCounted(own, bundled)
  await letTimePass()
  await first.noteCounted(own, bundled)

  expect((await entries()).map((entry) => entry?.count)).toEqual([undefined, 2, undefined])
})

test('a count that somebody else wrote is dropped, and signed by nobody', async () => {
  const { redis, keys, first, entries, letTimePass } = startTwo()
  await first.noteCounted(own, bundled)
  await first.noteCounted(own, bundled)
  const [key = '', value = ''] = Object.entries(await redis.hgetall(keys.auditCounts)).flat()
  const count = JSON.parse(value)
  for (const forged of [
    { ...count, first: count.first.replace('refused', 'approve'), over: 0 },
    { ...count, first: count.first.replace('U0ADA00001', 'U0BEN00001'), over: 0 },
    { ...count, count: 1e300, over: 0 },
    'not a count',
  ])
    await redis.hset(keys.auditCounts, `${key}${JSON.stringify(forged)}`, JSON.stringify(forged))
  await letTimePass()

  expect((await entries()).map((entry) => entry?.count)).toEqual([undefined, 1])
  expect(await redis.exists(keys.auditCounts)).toBe(0)
})

test('refused attempts do not make the search longer that a write needs before it is sent', async () => {
  const { first, entries } = startTwo()
  for (let count = 0; count < 2_000; count += 1) await first.noteCounted({ ...own, by: `U0MEMBER0${count % 3}` }, bundled)
  await entries()

  expect(await findEntries({ audit: first }, () => true)).toHaveLength(3)
})

test('a command whose answer was lost, and that is sent again, notes a refusal and its repeats once', async () => {
  const { redis, keys } = startTwo()
  const run = auditScripts.bind(undefined, redis)
  const markedWith = (mark: string) => [keys.auditIntake, keys.auditCounts, keys.auditSent(mark)]
  const refuse = (mark: string, note: string) => run('count', markedWith(mark), ['key', '', note, '1000'])
  const note = '{"act":"refused"}'
  expect([await refuse('first', note), await refuse('first', note)]).toEqual([['noted'], ['noted']])
  expect([await refuse('second', ''), await refuse('second', '')]).toEqual([['counted'], ['counted']])

  const value = (await redis.hget(keys.auditCounts, 'key')) ?? ''
  expect(JSON.parse(value).count).toBe(1)
  const end = () => run('end-count', markedWith('repeats'), ['key', value, '{"act":"refused","count":1}'])
  expect([await end(), await end()]).toEqual([['ended'], ['ended']])

  expect(await redis.xlen(keys.auditIntake)).toBe(2)
  expect(await run('end-count', markedWith('later'), ['key', value, ''])).toEqual(['lost'])
})
