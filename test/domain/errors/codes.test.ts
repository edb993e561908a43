import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { denialCodes } from '../../../src/domain/approval.ts'
import { errors, pageOf, refusalCodes } from '../../../src/domain/codes.ts'
import { alertNames, readRules, root } from '../../monitoring/rules.ts'

const page = readFileSync(join(root, 'docs/alerts-and-errors.md'), 'utf8')
const [, ...parts] = page.split(/^### /m)
const paragraphs = new Map(
  parts.map((part) => [part.slice(0, part.indexOf('\n')), plain(part.slice(part.indexOf('\n')).split(/^## /m)[0] ?? '')]),
)

/** Without links, markup and line breaks. */
function plain(markdown: string): string {
  return markdown
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .replace(/\s+/g, ' ')
}

test('the page of errors has a paragraph for each alert and each error, and for nothing else', () => {
  expect([...paragraphs.keys()].toSorted()).toEqual([...alertNames(), ...Object.keys(errors)].toSorted())
})

describe('what the log and the notices say of an error', () => {
  test.each(Object.entries(errors))('%s is in its paragraph', (code, meaning) => {
    expect(paragraphs.get(code)).toContain(meaning.means)
    expect(paragraphs.get(code)).toContain(meaning.do)
  })

  test('links the page of the repository', () => {
    const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(pageOf('no-worker')).toBe(
      `${repository.replace('github:', 'https://github.com/')}/blob/main/docs/alerts-and-errors.md#no-worker`,
    )
  })
})

test('what an alert says to do is in its paragraph, or in that of the error that it names', () => {
  for (const { alert, annotations } of readRules().filter((rule) => rule.alert)) {
    const own = paragraphs.get(alert ?? '') ?? ''
    const named = Object.entries(errors).flatMap(([code, meaning]) => (own.includes(code) ? [meaning.do] : []))
    expect([own, ...named].join(' '), alert).toContain(annotations?.description ?? 'it has no description')
  }
})

describe('the page lists', () => {
  test('each refusal in its words, and no other', () => {
    const rows = page.slice(page.indexOf('## Refusals')).matchAll(/^\| `([\w-]+)` \| (.*) \|$/gm)
    expect([...rows].map(([, code, words]) => [code, words])).toEqual(Object.entries(refusalCodes))
  })

  test('each denial', () => {
    expect([...denialCodes].filter((code) => !Object.hasOwn(refusalCodes, code))).toEqual([])
  })
})
