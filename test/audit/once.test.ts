import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { createAudit } from '../../src/audit/audit.ts'
import { type AuditNote, parseEntry } from '../../src/audit/chain.ts'
import { checkAudit } from '../../src/audit/verification.ts'
import { auditSigning } from '../given/audit.ts'
import { connectTestRedis } from '../given/redis.ts'

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
  const start = (connection: typeof redis) =>
    createAudit({
      redis: connection,
      keys,
      print: () => {},
      onError: () => {},
      ...auditSigning({ prefix }),
    })
  const [first, second] = [start(redis), start(another)]

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
    expect(output).not.toMatch(/missing|copy|not genuine/i)
    return found.map((entry) => entry && { by: entry.by, text: entry.text, requestId: entry.requestId })
  }

  return { redis, keys, first, second, entries }
}

test('repeats of a refusal are no entries, and after ten minutes it is noted again', async () => {
  const { redis, keys, first, second, entries } = startTwo()
  for (let count = 0; count < 100; count += 1) await (count % 2 === 0 ? first : second).noteOnce(guest, bundled)
  const entry = { by: guest.by, text: guest.text }
  expect(await entries()).toEqual([entry])

  const marks = await redis.keys(keys.auditSent('*'))
  expect(await Promise.all(marks.map((mark) => redis.pttl(mark)))).toEqual([expect.closeTo(600_000, -5)])
  await redis.del(marks)
  await first.noteOnce(guest, bundled)
  expect(await entries()).toEqual([entry, entry])
})

test('of refusals at the same moment, one is noted', async () => {
  const { first, second, entries } = startTwo()
  await Promise.all(Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? first : second).noteOnce(guest, bundled)))
  await second.noteOnce({ ...guest, causes: [{ code: 'other-workspace' }] }, bundled)

  expect(await entries()).toHaveLength(2)
})

test('another person, act or cause is another refusal, and another request or word is a repeat', async () => {
  const { first, entries } = startTwo()
  const others = [{ by: 'U0BEN00001' }, { attempted: 'withdraw' }, { kind: 'ip.evacuate' }, { causes: [{ code: 'not-an-approver' }] }]
  for (const more of [{}, ...others]) await first.noteOnce({ ...own, ...more }, bundled)
  expect(await entries()).toHaveLength(5)

  for (const requestId of ['b', 'c']) await first.noteOnce({ ...own, requestId: requestId.repeat(32) }, bundled)
  for (const word of ['x', 'y']) await first.noteOnce({ ...guest, text: `command ${word}` }, bundled)
  expect((await entries()).slice(5)).toEqual([{ by: guest.by, text: 'command x' }])
})

test('the first refusal on each open request is noted, and that a request cannot be trusted once a day', async () => {
  const { redis, keys, first, second, entries } = startTwo()
  const ids = ['a', 'b', 'a', 'b'].map((letter) => letter.repeat(32))
  for (const requestId of ids) await first.noteOnce({ ...own, requestId }, byRequest)
  expect((await entries()).map((entry) => entry?.requestId)).toEqual(ids.slice(0, 2))

  const [requestId = ''] = ids
  for (const audit of [first, second]) await audit.noteOnce({ act: 'distrust', requestId, causes: [{ code: 'unknown-key' }] }, byRequest)
  expect(await entries()).toHaveLength(3)
  const left = await Promise.all((await redis.keys(keys.auditSent('*'))).map((mark) => redis.pttl(mark)))
  expect(Math.max(...left)).toBeGreaterThan(23 * 3_600_000)
})
