import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { errorCodes } from '../../../src/domain/errors.ts'
import { logFields } from '../../../src/ops/log.ts'
import { alertNames } from '../../monitoring/rules.ts'

const read = (page: string) => readFileSync(join(resolve(import.meta.dirname, '../../../docs'), page), 'utf8')

/** Returns the paragraph below each heading of the third level. */
function paragraphs(page: string): Map<string, string> {
  const parts = read(page).split(/^### /m).slice(1)
  return new Map(parts.map((part) => [part.split('\n')[0] ?? '', part.split('\n').slice(1).join('\n').split(/^## /m)[0]?.trim() ?? '']))
}

describe('docs/alerts-and-errors.md', () => {
  const found = paragraphs('alerts-and-errors.md')

  test('has a paragraph for each alert and each error, and for nothing else', () => {
    expect([...found.keys()].toSorted()).toEqual([...alertNames(), ...errorCodes].toSorted())
  })

  test('says more than a sentence about each', () => {
    for (const [id, paragraph] of found) expect(paragraph.split(/[.:] /).length, id).toBeGreaterThan(1)
  })

  test('links to paragraphs that exist', () => {
    const links = [...read('alerts-and-errors.md').matchAll(/\]\(#([^)]+)\)/g)].map(([, link = '']) => link)
    const known = [...found.keys()].map((id) => id.toLowerCase())
    expect(links.filter((link) => !known.includes(link))).toEqual([])
  })
})

describe('docs/logs.md', () => {
  test('lists every field of the log with its meaning, in order', () => {
    const rows = [...read('logs.md').matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, name = '', meaning = '']) => [name, meaning])
    expect(rows).toEqual(Object.entries(logFields))
  })
})
