import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { createAudit } from '../../src/audit/audit.ts'
import { chain, hashOf, printedLine, readPrintedLine, signNote } from '../../src/audit/chain.ts'
import { findEntries } from '../../src/audit/find.ts'
import { checkAudit, readLogs } from '../../src/audit/verification.ts'
import { auditSigning } from '../given/audit.ts'
import { connectTestRedis } from '../given/redis.ts'

const keys = 'a-key-for-tests-of-32-characters'
const requestId = 'a1b2c3'
const acts = ['request', 'approve', 'send', 'accept', 'late', 'finish']

/** A chain of six entries. */
async function startAudited() {
  const mine = connectTestRedis()
  const errors: unknown[] = []
  const signing = auditSigning({ keys, prefix: mine.prefix })
  const audit = createAudit({ ...mine, print: () => {}, onError: (error) => void errors.push(error), ...signing })
  for (const act of acts) await audit.note({ act, requestId, resource: 'elastic_ip:eip_1' })
  await audit.tidy()
  const verify = (env = {}) => checkAudit({ REDIS_URL: inject('redisUrl'), REDIS_PREFIX: mine.prefix, STATE_KEY: keys, ...env }, [])
  return { ...mine, audit, ...signing, verify, errors }
}
type Audited = Awaited<ReturnType<typeof startAudited>>

type Item = [id: string, entry: Record<string, unknown>]

async function itemsOf({ redis, keys: { audit } }: Audited): Promise<Item[]> {
  return (await redis.xrange(audit, '-', '+')).map(([id, [, entry = '']]) => [id, JSON.parse(entry)])
}

/** Writes a chain again, with its numbers, hashes and head, so that the chain alone has no fault. */
async function rebuild({ redis, keys: { audit, auditHead } }: Audited, items: Item[]): Promise<void> {
  await redis.del(audit)
  let last = { seq: 0, hash: '' }
  for (const [id, { seq: _, prev: __, ...fields }] of items) {
    const text = chain(fields, last.seq + 1, last.hash)
    await redis.xadd(audit, id, 'entry', text)
    last = { seq: last.seq + 1, hash: hashOf(text) }
  }
  await redis.hset(auditHead, 'seq', last.seq, 'hash', last.hash)
}

/** Spells the entries otherwise, in a chain that has no other fault. */
async function respell({ redis, keys: { audit, auditHead } }: Audited, spell: (text: string) => string): Promise<void> {
  const found = await redis.xrange(audit, '-', '+')
  await redis.del(audit)
  let last = ''
  for (const [id, [, entry = '']] of found) {
    const text = spell(JSON.stringify({ ...JSON.parse(entry), prev: last }))
    last = hashOf(text)
    await redis.xadd(audit, id, 'entry', text)
  }
  await redis.hset(auditHead, 'hash', last)
}

describe('somebody with write access to Redis cannot erase the audit without a trace', () => {
  test('by making its entries look so old, with a chain that was written again and says the same', async () => {
    const audited = await startAudited()
    const old = (await itemsOf(audited)).map(([, fields], index): Item => [`${index + 1}-0`, { ...fields, at: index + 1 }])
    await rebuild(audited, old)

    await audited.audit.tidy()

    expect((await itemsOf(audited)).map(([, { act }]) => act)).toEqual(acts)
  })

  test.each<[how: string, spell: (text: string) => string]>([
    ['with escapes in the id of the request', (text) => text.replace('"a1b2c3"', '"\\u00611b2c3"')],
    ['with escapes in the name of a field', (text) => text.replace('"requestId"', '"request\\u0049d"')],
    ['with a field twice', (text) => text.replace('"requestId"', '"requestId":"other","requestId"')],
    ['with white space', (text) => text.replace('{', '{ ')],
  ])('by spelling its entries %s', async (_, spell) => {
    const audited = await startAudited()
    await respell(audited, (text) => text)
    expect(await audited.verify()).toMatchObject({ exitCode: 0 })
    await respell(audited, spell)

    expect(await findEntries(audited, ({ act }) => act === 'send', { requestId })).toMatchObject([{ act: 'send', verdict: 'forged' }])
    const found = {
      exitCode: 1,
      output: expect.stringContaining("Entry 3 was rewritten: its text isn't in the form that Lockkeeper writes."),
    }
    expect(await audited.verify()).toEqual(found)
    expect(await audited.verify({ STATE_KEY: undefined })).toEqual(found)
  })

  test.each<[how: string, change: (items: Item[]) => Item[], found: string]>([
    [
      'by putting a copy in its place',
      (items) => items.map((item, index) => (index === 2 ? [item[0], items[1]?.[1] ?? {}] : item)),
      'Entry 3 is a copy of entry 2.',
    ],
    [
      'by giving it to another person',
      (items) => items.map(([id, fields]): Item => [id, fields.act === 'approve' ? { ...fields, by: 'U0BEN00001' } : fields]),
      "Entry 2 is not genuine: its signature doesn't match.",
    ],
  ])('%s', async (_, change, found) => {
    const audited = await startAudited()
    await rebuild(audited, change(await itemsOf(audited)))

    expect(await audited.verify()).toEqual({ exitCode: 1, output: `${found}\n` })
  })
})

test('a note in the intake that somebody spells otherwise joins the chain unsigned', async () => {
  const audited = await startAudited()
  const { redis, keys: names, audit } = audited
  const text = JSON.stringify(signNote(audited.keyring, { act: 'withdraw', requestId }))
  await redis.xadd(names.auditIntake, '*', 'note', text.replace('withdraw', '\\u0077ithdraw'), 'at', String(Date.now()))
  await audit.tidy()

  expect(await findEntries(audited, ({ act }) => act === 'withdraw', { requestId })).toMatchObject([
    { verdict: 'unsigned', unverified: 'unsigned' },
  ])
  expect(await audited.verify()).toEqual({ exitCode: 1, output: 'Entry 7 is not signed: Lockkeeper did not write it.\n' })
})

describe('a note that somebody puts into the intake does not stop the notes after it', () => {
  test.each<[string, string]>([
    ['with 20,000 levels', `{"version":1,"act":"x","deep":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
    ['with a prototype', '{"version":1,"act":"x","__proto__":{"signature":"x"},"constructor":1}'],
    ['with numbers that are none', '{"version":1,"act":"x","signedAt":1e999,"at":1e999}'],
    ['that is no object', '["version",1]'],
  ])('%s', async (_, text) => {
    const audited = await startAudited()
    const { redis, keys: names, audit } = audited
    await redis.xadd(names.auditIntake, '*', 'note', text, 'at', String(Date.now()))
    await audit.note({ act: 'reject' })
    await audit.tidy()

    expect(audited.errors).toEqual([])
    expect((await itemsOf(audited)).at(-1)?.[1]).toMatchObject({ act: 'reject', seq: 8 })
    expect(await audited.verify()).toEqual({ exitCode: 1, output: 'Entry 7 is not signed: Lockkeeper did not write it.\n' })
  })
})

const note = (reason: string) => ({ version: 1, act: 'request', at: 1_795_000_000_000, by: 'U0ADA00001', reason })

test.each<[string, string]>([
  ['a line separator', '\u2028'],
  ['a next line', '\u0085'],
  ['a mark that reverses text', '\u202e'],
  ['half of a character', '\ud800'],
])('somebody whose reason has %s cannot tear or reorder its line in the log', async (_, character) => {
  const entry = chain(note(`before${character}{"stream":"audit","seq":1}`), 1, '')
  const line = printedLine(entry)
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'audit.log')
  writeFileSync(path, `${line}\n`)

  const log = await readLogs([path])

  expect(log).toEqual({ lines: new Map([[1, new Set([hashOf(entry)])]]), breaks: [] })
  expect(line).not.toContain(character)
  expect(readPrintedLine(line)).toMatchObject({ seq: 1, entry, hash: hashOf(entry) })
})
