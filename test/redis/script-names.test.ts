import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, test } from 'vitest'

const src = new URL('../../src/', import.meta.url)

/** One connection has the scripts of several folders, by their names: a second one of the same name would replace the first. */
test('every Lua script has its own name', () => {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.lua'))
  const names = files.map((path) => basename(path))

  expect(names.length).toBeGreaterThan(15)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})
