import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { ablations } from './ablations.ts'

const root = resolve(import.meta.dirname, '../..')
const page = readFileSync(resolve(root, 'docs/faults.md'), 'utf8')
const rows = [...page.matchAll(/^\| (\d+) \|.*\| ([^|]+) \|$/gm)].map(([, number, heldBy]) => ({ number: Number(number), heldBy }))

test('every scenario has a row in docs/faults.md, and is held by tests', () => {
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1))
  for (const { heldBy } of rows) expect(heldBy).toMatch(/`[\w/-]+`/)
})

test('the tests that docs/faults.md names are there', () => {
  const named = new Set(
    [...page.matchAll(/`((?:faults|journeys|model|requests|redis|domain|account-api)\/[\w/-]+|start[\w-]*)`/g)].map(([, name]) => name),
  )
  const missing = [...named].filter(
    (name) => !existsSync(resolve(root, `test/${name}.test.ts`)) && !existsSync(resolve(root, `test/${name}.long.test.ts`)),
  )
  expect(named.size).toBeGreaterThan(30)
  expect(missing).toEqual([])
})

test('what ablations take away is there', () => {
  const gone = Object.entries(ablations).filter(([, { file, instead }]) => !readFileSync(resolve(root, file), 'utf8').includes(instead[0]))
  expect(gone).toEqual([])
})
