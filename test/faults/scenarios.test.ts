import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const page = readFileSync(resolve(root, 'docs/faults.md'), 'utf8')
const rows = [...page.matchAll(/^\| (\d+) \|.*\| ([^|]+) \|$/gm)].map(([, number, heldBy]) => ({ number: Number(number), heldBy }))

test('every scenario has a row in docs/faults.md, and is held by tests', () => {
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1))
  for (const { heldBy } of rows) expect(heldBy).toMatch(/`[\w/-]+`/)
})

test.each(['docs/faults.md', 'docs/security.md'])('the tests that %s names are there', (path) => {
  const text = readFileSync(resolve(root, path), 'utf8')
  const folders = readdirSync(resolve(root, 'test'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const isTest = new RegExp(`^((${folders.map(({ name }) => name).join('|')}|changes|configuration)/[\\w/-]+|start[\\w-]*)$`)
  const named = new Set([...text.matchAll(/`([^`\n]+)`/g)].flatMap(([, name = '']) => (isTest.test(name) ? [name] : [])))
  const missing = [...named].filter(
    (name) => !existsSync(resolve(root, `test/${name}.test.ts`)) && !existsSync(resolve(root, `test/${name}.long.test.ts`)),
  )
  expect(named.size).toBeGreaterThan(10)
  expect(missing).toEqual([])
})
