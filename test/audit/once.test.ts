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

const quietMs = 600_000

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
  for (let count = 0; count < 100; count += 1) await (count % 2 === 0 ? first : second).noteOnce(guest, quietMs)
  const entry = { by: guest.by, text: guest.text }
  expect(await entries()).toEqual([entry])

  const marks = await redis.keys(keys.auditSent('*'))
  expect(await Promise.all(marks.map((mark) => redis.pttl(mark)))).toEqual([expect.closeTo(600_000, -5)])
  await redis.del(marks)
  await first.noteOnce(guest, quietMs)
  expect(await entries()).toEqual([entry, entry])
})

test('of refusals at the same moment, one is noted', async () => {
  const { first, second, entries } = startTwo()
  await Promise.all(Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? first : second).noteOnce(guest, quietMs)))
  await second.noteOnce({ ...guest, causes: [{ code: 'other-workspace' }] }, quietMs)

  expect(await entries()).toHaveLength(2)
})

test('another person, act, cause or request is another refusal, and another word is a repeat', async () => {
  const { first, entries } = startTwo()
  const requestId = 'b'.repeat(32)
  const others = [
    { by: 'U0BEN00001' },
    { attempted: 'withdraw' },
    { kind: 'ip.evacuate' },
    { causes: [{ code: 'not-an-approver' }] },
    { requestId },
  ]
  for (const more of [{}, ...others, {}, { requestId }]) await first.noteOnce({ ...own, ...more }, quietMs)
  expect((await entries()).map((entry) => entry?.requestId)).toEqual([...Array(5).fill(own.requestId), requestId])

  for (const word of ['x', 'y']) await first.noteOnce({ ...guest, text: `command ${word}` }, quietMs)
  expect((await entries()).slice(6)).toEqual([{ by: guest.by, text: 'command x' }])
})
