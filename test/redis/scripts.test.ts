import { readdirSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { expect, test } from 'vitest'

test('no two scripts have one name, because all folders define theirs on one connection and the last definition counts', () => {
  const source = resolve(import.meta.dirname, '../../src')
  const names = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.lua'))
    .map((file) => basename(file))

  expect(names.length).toBeGreaterThan(10)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})
