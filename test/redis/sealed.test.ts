import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createKeyring } from '../../src/domain/signing.ts'
import { open, readText, replace, seal } from '../../src/redis/sealed.ts'
import { connectTestRedis } from '../given/redis.ts'
import { recordKeyring, secretsOf } from '../given/signatures.ts'

const Facts = z.object({ isOn: z.boolean() })
const ringOf = (keys: string, prefix = 'lockkeeper') => createKeyring(secretsOf(keys), { purpose: 'records', prefix })

describe('a sealed record', () => {
  const sealed = seal(recordKeyring, 'freeze', { isOn: true })

  test.each([
    ['as it was sealed', sealed, { is: 'genuine', facts: { isOn: true }, isCurrent: true }],
    ['with what a later version added', seal(recordKeyring, 'freeze', { isOn: true, of: 1 }), { facts: { isOn: true } }],
    ['that is not there', '', { is: 'none' }],
    ['that stood in place of another', seal(recordKeyring, 'freeze-look', { isOn: true }), { is: 'forged' }],
    ['that was changed', sealed.replace('true', 'false'), { is: 'forged' }],
    ['with spaces that were added', sealed.replace(':', ': '), { is: 'forged' }],
    ['without a signature', '{"isOn":true}', { is: 'forged' }],
    ['of another installation', seal(ringOf('a-key-for-tests-of-32-characters', 'other'), 'freeze', { isOn: true }), { is: 'unreadable' }],
    ['of another form', seal(recordKeyring, 'freeze', { isOn: 1 }), { is: 'unreadable' }],
  ])('%s', (_, text, opened) => {
    expect(open(recordKeyring, 'freeze', Facts, text)).toMatchObject(opened)
  })

  test('of an older key is genuine as long as that verifies, and not current', () => {
    const [older, newer] = ['an-older-key-for-tests-of-32-chars', 'a-newer-key-for-tests-of-32-chars']
    const ofOlder = seal(ringOf(older), 'freeze', { isOn: true })
    expect(open(ringOf(`${newer},${older}`), 'freeze', Facts, ofOlder)).toMatchObject({ is: 'genuine', isCurrent: false })
    expect(open(ringOf(newer), 'freeze', Facts, ofOlder)).toEqual({ is: 'unreadable' })
  })
})

describe('a record is replaced', () => {
  const owed = { id: 'm1', member: 'm1/notice', facts: 'words', keepMs: 60_000, inMs: 5_000 }

  test('with its note and its messages, once, and not if somebody else was first', async () => {
    const app = connectTestRedis()
    const { redis, keys } = app
    const set = (before: string, after: string) => replace(app, keys.freeze, { before, after }, { note: '{}', owes: [owed] })

    expect(await set('', 'one')).toBe('replaced')
    expect(await set('', 'one')).toBe('repeat')
    expect(await set('', 'two')).toBe('changed')
    expect([await readText(redis, keys.freeze), await redis.xlen(keys.auditIntake)]).toEqual(['one', 1])
    expect(await redis.hget(keys.message('m1'), 'facts')).toBe('words')
    expect(Number(await redis.zscore(keys.outbox, 'm1/notice'))).toBeGreaterThan(Date.now())
  })

  test('in a hash, from which an empty one is removed', async () => {
    const app = connectTestRedis()
    const place = { key: app.keys.keyEnds, field: 'tok_1' }
    expect(await replace(app, place, { before: '', after: 'one' })).toBe('replaced')
    expect(await replace(app, place, { before: 'one', after: '' })).toBe('replaced')
    expect(await app.redis.exists(app.keys.keyEnds)).toBe(0)
  })

  test('for as long as it is kept, and where somebody has put a list', async () => {
    const app = connectTestRedis()
    await app.redis.rpush(app.keys.assignments, 'free')
    const before = await readText(app.redis, app.keys.assignments)
    expect(await replace(app, app.keys.assignments, { before, after: 'one' }, { keepMs: 60_000 })).toBe('replaced')
    expect(await app.redis.pttl(app.keys.assignments)).toBeGreaterThan(50_000)
  })
})
