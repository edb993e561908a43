import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { generated } from '../../scripts/write-docs.ts'
import { Variables } from '../../src/config/variables.ts'
import { errors, pageOf } from '../../src/domain/codes.ts'
import { readRules } from '../monitoring/rules.ts'

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8')

test.each(Object.entries(generated))('%s is up to date: otherwise run npm run docs', async (path, text) => {
  expect(read(path) === (await text())).toBe(true)
})

test('each notice and each alert links its heading on the page of errors', () => {
  const { repository } = JSON.parse(read('package.json'))
  const page = `${repository.replace('github:', 'https://github.com/')}/blob/main/docs/errors.md`
  const headings = [...read('docs/errors.md').matchAll(/^### (.*)$/gm)].map(([, name = '']) => `${page}#${name.toLowerCase()}`)
  const ofAlerts = readRules().flatMap(({ alert, annotations }) => (alert ? [annotations?.runbook_url] : []))
  const docsUrl = Variables.shape.DOCS_URL.parse(undefined)
  const ofCodes = (Object.keys(errors) as (keyof typeof errors)[]).map((code) => pageOf(code, docsUrl))
  expect(new Set([...ofAlerts, ...ofCodes])).toEqual(new Set(headings))
})

test('a copy of the pages at another address is linked as well', () => {
  for (const address of ['https://wiki.example.com/lockkeeper', 'https://wiki.example.com/lockkeeper/'])
    expect(pageOf('no-worker', new URL(address))).toBe('https://wiki.example.com/lockkeeper/errors.md#no-worker')
})
