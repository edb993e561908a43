import { readdirSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { expect, test } from 'vitest'

test('no two scripts have one name, because all folders define theirs on one connection and the last definition counts', () => {
  const source = resolve(import.meta.dirname, '../../src')
  const names = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.lua'))
    .map((file) => basename(file))

  expect(names.length).toBeGreaterThan(10)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})

test('scripts use only commands that the user of docs/operating.md may run', () => {
  const root = resolve(import.meta.dirname, '../..')
  const allowed = new Set([...readFileSync(join(root, 'docs/operating.md'), 'utf8').matchAll(/\+([a-z]+)/g)].map(([, name]) => name))
  const used = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.lua'))
    .flatMap((file) => [...readFileSync(join(root, 'src', file), 'utf8').matchAll(/redis\.call\('(\w+)'/g)].map(([, name = '']) => name))

  expect(used.length).toBeGreaterThan(50)
  expect([...new Set(used)].filter((name) => !allowed.has(name.toLowerCase()))).toEqual([])
})
