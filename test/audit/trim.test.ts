import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { createAudit } from '../../src/audit/audit.ts'
import { AuditEntry } from '../../src/audit/chain.ts'
import { checkAudit } from '../../src/audit/verification.ts'
import { auditSigning } from '../given/audit.ts'
import { connectTestRedis } from '../given/redis.ts'

const dayMs = 24 * 3_600_000
const acts = ['request', 'approve', 'send', 'accept', 'late', 'finish']

/** A chain of six entries that were signed long ago. `change` may change the text of each before the first four get ids older than 400 days. */
async function startWithOld({ change = (text) => text, signedAt = Date.parse('2020-01-02T03:04:05Z') }: Old = {}) {
  const { redis, keys, prefix } = connectTestRedis()
  const told: [fault: string, areRemoved: boolean][] = []
  const audit = createAudit({
    redis,
    keys,
    print: () => {},
    onError: () => {},
    onDamaged: async (...what) => void told.push(what),
    ...auditSigning({ prefix }),
  })
  const clock = setClock(signedAt - Date.now())
  for (const act of acts) await audit.note({ act })
  clock.mockRestore()
  await audit.chained()
  const found = await redis.xrange(keys.audit, '-', '+')
  await redis.del(keys.audit)
  for (const [index, [id, [, text = '']]] of found.entries())
    await redis.xadd(keys.audit, index < 4 ? `${1_000 + index}-0` : id, 'entry', change(text, index + 1))

  const entries = async () => (await redis.xrange(keys.audit, '-', '+')).map(([, [, text = '']]) => AuditEntry.parse(JSON.parse(text)))
  const seqs = async () => (await entries()).map(({ seq }) => seq)
  const verify = () =>
    checkAudit({ REDIS_URL: inject('redisUrl'), REDIS_PREFIX: prefix, STATE_KEY: 'a-key-for-tests-of-32-characters' }, [])
  return { redis, keys, audit, told, entries, seqs, verify, letADayPass: () => redis.del(keys.auditTrim) }
}

/** It goes on: whatever else of this process waits by it would wait forever for one that stands still. */
function setClock(aheadMs: number) {
  const { now } = Date
  return vi.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs)
}

interface Old {
  change?: (text: string, seq: number) => string
  signedAt?: number
}

test('old entries are removed, and a signed entry names the last of them', async () => {
  const { audit, told, entries, verify } = await startWithOld()

  await audit.tidy()

  expect(await entries()).toMatchObject([{ seq: 5 }, { seq: 6 }, { seq: 7, act: 'trim', through: 4 }])
  expect(told).toEqual([])
  expect(await verify()).toMatchObject({ exitCode: 0, output: expect.stringContaining('4 older ones were removed because of their age') })
})

test('a damaged old entry does not stop the removal: operators are told once, and the audit says what was damaged', async () => {
  const { audit, told, entries } = await startWithOld({ change: (text, seq) => (seq === 2 ? text.replace('approve', 'reject') : text) })
  const fault = "Entry 2 is not genuine: its signature doesn't match."

  await audit.tidy()

  expect(await entries()).toMatchObject([{ seq: 5 }, { seq: 6 }, { seq: 7, act: 'trim', through: 4, text: fault }])
  expect(told).toEqual([[fault, true]])
})

test('damaged entries that no later one proves to be old are kept, and operators are told once', async () => {
  const { audit, told, seqs, letADayPass } = await startWithOld({
    change: (text, seq) => (seq < 5 ? text.replace('"act":"', '"act":"x') : text),
  })

  for (const _ of acts) {
    await audit.tidy()
    await letADayPass()
  }

  expect(await seqs()).toEqual([1, 2, 3, 4, 5, 6])
  expect(told).toEqual([["Entry 1 is not genuine: its signature doesn't match.", false]])
})

test('entries that only look old are kept, and operators are told once', async () => {
  const { audit, told, seqs, letADayPass } = await startWithOld({ signedAt: Date.now() - dayMs })

  await audit.tidy()
  await letADayPass()
  await audit.tidy()

  expect(await seqs()).toEqual([1, 2, 3, 4, 5, 6])
  expect(told).toEqual([['Entry 1 seems to be older than its note.', false]])
})

test('old entries are verified once a day, not with each tidying', async () => {
  const { redis, audit } = await startWithOld({ signedAt: Date.now() })
  const read = vi.spyOn(redis, 'xrange')
  onTestFinished(() => read.mockRestore())

  await audit.tidy()
  const first = read.mock.calls.length
  for (const _ of acts) await audit.tidy()

  // One read of the oldest entry and one of the intake each.
  expect(read.mock.calls.length - first).toBeLessThanOrEqual(acts.length * 2)
})

test.each([
  ['of Redis', 500, 0],
  ['of the process', 0, 500],
])('a clock %s that is wrong removes nothing', async (_, ofRedis, ofProcess) => {
  const { redis, keys, audit, seqs } = await startWithOld()
  const now = Date.now()
  // All entries are 100 days old.
  const texts = (await redis.xrange(keys.audit, '-', '+')).map(([, [, text = '']]) => text)
  await redis.del(keys.audit)
  for (const [index, text] of texts.entries()) await redis.xadd(keys.audit, `${now - 100 * dayMs + index}-0`, 'entry', text)
  vi.spyOn(redis, 'time').mockImplementation((async () => [String(Math.floor((now + ofRedis * dayMs) / 1_000)), '0']) as never)
  setClock(ofProcess * dayMs)
  onTestFinished(() => void vi.restoreAllMocks())

  await audit.tidy()
  expect(await seqs()).toEqual([1, 2, 3, 4, 5, 6])
})
