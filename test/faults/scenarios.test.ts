import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'

const page = readFileSync(resolve(import.meta.dirname, 'README.md'), 'utf8')
const rows = [...page.matchAll(/^\| (\d+) \|.*\| ([^|]+) \|$/gm)].map(([, number, heldBy]) => ({ number: Number(number), heldBy }))

test('README.md has a row with tests for every scenario', () => {
  expect(rows.map(({ number }) => number)).toEqual(rows.map((_, index) => index + 1))
  expect(rows.length).toBeGreaterThan(40)
  for (const { heldBy } of rows) expect(heldBy).toMatch(/`[\w/-]+`/)
})
