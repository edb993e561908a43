import { expect, test } from 'vitest'
import { bundles, changeKinds } from '../../src/features/index.ts'
import { catalog } from '../given/catalog.ts'

test('the kinds of change keep their names, because policies and NO_APPROVAL use them', () => {
  expect(changeKinds).toEqual(['ip.move', 'ip.evacuate', 'vm.rename', 'key.create', 'key.extend', 'key.rotate', 'key.revoke'])
})

test('every kind that a feature declares is the kind of one change, and every change has a declared kind', () => {
  expect(catalog.kinds().toSorted()).toEqual(changeKinds.toSorted())
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
