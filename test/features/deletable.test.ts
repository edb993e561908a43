import { dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { changeKinds } from '../../src/features/index.ts'
import { features, files, importsOf, isOf, list, textOf } from './source-files.ts'

// That the rest compiles without a feature is tried in deletable.long.test.ts.
describe('a feature can be deleted with its folder and its line', () => {
  test.each(features)('%s: only its own files and the list import it', (feature) => {
    const gone = isOf(feature)
    const importing = files.filter((file) => !gone(file) && importsOf(file).some(gone))
    expect(importing).toEqual([list])
  })

  test('every folder has imports in the list', () => {
    const imported = importsOf(list).flatMap((target) => /^features\/([\w-]+?)(?:\/[\w-]+)?\.ts$/.exec(target)?.[1] ?? [])
    expect([...new Set(imported)].toSorted()).toEqual(features.toSorted())
    expect(features.length).toBeGreaterThan(10)
  })

  test('no other folder names its kinds', () => {
    const naming = changeKinds.map((kind) => [kind, files.filter((file) => textOf.get(file)?.includes(`'${kind}'`)).map(dirname)] as const)
    const foreign = naming.filter(([, folders]) => new Set(folders).size !== 1)
    expect(foreign).toEqual([])
  })
})
