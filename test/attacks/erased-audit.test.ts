import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { chain, hashOf, printedLine, readPrintedLine, signNote } from '../../src/audit/chain.ts'
import { findEntries } from '../../src/audit/find.ts'
import { checkAudit, readLogs } from '../../src/audit/verification.ts'
import { acts, putNote, rechain, requestId, type Six, sixEntries, textsOf } from '../audit/six-entries.ts'

const verify = ({ env }: Six, more: object = {}) => checkAudit({ ...env, ...more }, [])

describe('somebody with write access to Redis cannot erase the audit without a trace', () => {
  test('by making its entries look so old, with a chain that was written again and says the same', async () => {
    const six = await sixEntries()
    await rechain(six, (entries) => entries.map((entry, index) => ({ ...entry, at: index + 1 })), { idOf: (index) => `${index + 1}-0` })

    await six.audit.tidy()

    expect((await textsOf(six)).map((text) => JSON.parse(text).act)).toEqual(acts)
  })

  test.each<[how: string, spell: (text: string) => string]>([
    ['with escapes in the id of the request', (text) => text.replace('"a1b2c3"', '"\\u00611b2c3"')],
    ['with escapes in the name of a field', (text) => text.replace('"requestId"', '"request\\u0049d"')],
    ['with a field twice', (text) => text.replace('"requestId"', '"requestId":"other","requestId"')],
    ['with white space', (text) => text.replace('{', '{ ')],
  ])('by spelling its entries %s', async (_, spell) => {
    const six = await sixEntries()
    await rechain(six, (entries) => entries)
    expect(await verify(six)).toMatchObject({ exitCode: 0 })
    await rechain(six, (entries) => entries, { spell })

    expect(await findEntries(six, ({ act }) => act === 'send', { requestId })).toMatchObject([{ act: 'send', verdict: 'forged' }])
    const found = {
      exitCode: 1,
      output: expect.stringContaining("Entry 3 was rewritten: its text isn't in the form that Lockkeeper writes."),
    }
    expect(await verify(six)).toEqual(found)
    expect(await verify(six, { STATE_KEY: '' })).toEqual(found)
  })
})

test('a note in the intake that somebody spells otherwise joins the chain unsigned', async () => {
  const six = await sixEntries()
  const text = JSON.stringify(signNote(six.keyring, { act: 'withdraw', requestId }))
  await putNote(six, text.replace('withdraw', '\\u0077ithdraw'))
  await six.audit.tidy()

  expect(await findEntries(six, ({ act }) => act === 'withdraw', { requestId })).toMatchObject([
    { verdict: 'unsigned', unverified: 'unsigned' },
  ])
  expect(await verify(six)).toEqual({ exitCode: 1, output: 'Entry 7 is not signed: Lockkeeper did not write it.\n' })
})

describe('a note that somebody puts into the intake does not stop the notes after it', () => {
  test.each<[string, string]>([
    ['with 20,000 levels', `{"version":1,"act":"x","deep":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
    ['with a prototype', '{"version":1,"act":"x","__proto__":{"signature":"x"},"constructor":1}'],
    ['with numbers that are none', '{"version":1,"act":"x","signedAt":1e999,"at":1e999}'],
    ['that is no object', '["version",1]'],
  ])('%s', async (_, text) => {
    const six = await sixEntries()
    await putNote(six, text)
    await six.audit.note({ act: 'reject' })
    await six.audit.tidy()

    expect(six.errors).toEqual([])
    expect(JSON.parse((await textsOf(six)).at(-1) ?? '')).toMatchObject({ act: 'reject', seq: 8 })
    expect(await verify(six)).toEqual({ exitCode: 1, output: 'Entry 7 is not signed: Lockkeeper did not write it.\n' })
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
