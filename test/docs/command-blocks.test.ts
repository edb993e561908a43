import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandBlocks, pages } from './command-blocks.ts'

const root = join(import.meta.dirname, '../..')
const all = pages.flatMap((page) => commandBlocks(page))

test('finds every block of commands on README and the docs', () => {
  const fences = pages.flatMap((page) => [...readFileSync(join(root, page), 'utf8').matchAll(/^ *```sh$/gm)])
  expect(all).toHaveLength(fences.length)
  expect(all.filter(({ notRun }) => notRun === undefined).length).toBeGreaterThan(8)
})

test('a block that is not run says why, and names tests that exist', () => {
  const reasons = all.flatMap(({ notRun }) => notRun ?? [])
  expect(reasons.filter((reason) => reason.length < 20)).toEqual([])
  expect(reasons.flatMap((reason) => reason.match(/test\/[\w/.-]+\.ts/g) ?? []).filter((path) => !existsSync(join(root, path)))).toEqual([])
})
