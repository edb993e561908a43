import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { bundles, changeKinds, confirmations } from '../../src/features/index.ts'
import { catalog } from '../given/catalog.ts'

const source = resolve(import.meta.dirname, '../../src')

test('the kinds of change keep their names, because policies and NO_APPROVAL use them', () => {
  expect(changeKinds).toEqual(['ip.move', 'ip.evacuate', 'vm.rename', 'key.create', 'key.extend', 'key.rotate', 'key.revoke'])
})

test('every kind that a feature declares is the kind of one change, and every change has a declared kind', () => {
  // Those that a confirmation needs have no rules of their own.
  expect(catalog.kinds().toSorted()).toEqual([...changeKinds, ...[...confirmations.values()].flat()].toSorted())
})

test('moves, evacuations and renames belong to projects, and keys to none', () => {
  const withProject = changeKinds.filter((kind) => catalog.hasProject(kind))
  expect(withProject).toEqual(['ip.move', 'ip.evacuate', 'vm.rename'])
})

test('no kind is called read, which is the name of a right', () => {
  for (const kind of changeKinds) expect(kind).toMatch(/^[a-z]+\.[a-z]+$/)
})

test('a bundle is a kind of change, and so are its parts', () => {
  for (const kind of [...bundles].flat()) expect(changeKinds).toContain(kind)
})

// That nothing else imports a feature is in architecture.test.ts. So a feature can be deleted with its folder, or its file, and its lines in the list.
test('every feature is in the list, and no other folder names its kinds', () => {
  const list = readFileSync(join(source, 'features/index.ts'), 'utf8')
  const listed = [...list.matchAll(/from '\.\/([\w-]+)[./]/g)].map(([, name = '']) => name)
  const features = readdirSync(join(source, 'features')).map((name) => name.replace(/\.ts$/, ''))
  expect([...new Set(listed), 'index'].toSorted()).toEqual(features.toSorted())

  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const foldersNaming = (kind: string) =>
    new Set(files.filter((file) => readFileSync(join(source, file), 'utf8').includes(`'${kind}'`)).map(dirname))
  expect(changeKinds.filter((kind) => foldersNaming(kind).size !== 1)).toEqual([])
})
