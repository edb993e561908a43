import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { chain, hashOf, printedLine, readPrintedLine } from '../../src/audit/chain.ts'
import { readLogs } from '../../src/audit/verification.ts'

const note = (reason: string) => ({ version: 1, act: 'request', at: 1_795_000_000_000, by: 'U0ADA00001', reason })

test.each<[string, string]>([
  ['a line separator', '\u2028'],
  ['a paragraph separator', '\u2029'],
  ['a next line', '\u0085'],
  ['a mark that reverses text', '\u202e'],
  ['invisible letters', '\u{e0041}\u{e0042}'],
  ['half of a character', '\ud800'],
])('somebody whose reason has %s cannot tear or reorder its line in the log', async (_, character) => {
  const entry = chain(note(`before${character}{"stream":"audit","seq":1}`), 1, '')
  const line = printedLine(entry)
  const path = join(mkdtempSync(join(tmpdir(), 'audit-')), 'audit.log')
  writeFileSync(path, `${line}\n`)

  const log = await readLogs([path])

  expect(log).toEqual({ hashes: new Map([[1, hashOf(entry)]]), breaks: [] })
  expect(line).not.toContain(character)
  expect(readPrintedLine(line)).toEqual({ seq: 1, entry, hash: hashOf(entry) })
})
