import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { refusedLicences } from '../../scripts/check-licences.ts'

const root = resolve(import.meta.dirname, '../..')
const locked = (packages: Record<string, object>) => JSON.stringify({ packages: { '': { name: 'lockkeeper' }, ...packages } })

test('a package with a licence that is not on the list is refused with its name and version', () => {
  const lockfile = locked({
    'node_modules/a': { version: '1.0.0', license: 'MIT' },
    'node_modules/a/node_modules/@b/c': { version: '2.0.0', license: 'AGPL-3.0-only' },
    'node_modules/d': { version: '3.0.0' },
  })

  expect(refusedLicences('package-lock.json', lockfile)).toEqual([
    'package-lock.json: @b/c@2.0.0 has the licence AGPL-3.0-only, which is not on the list in scripts/check-licences.ts.',
    'package-lock.json: d@3.0.0 has no licence, which is not on the list in scripts/check-licences.ts.',
  ])
})

test('a package for development may have a licence that a release may not have', () => {
  const lockfile = locked({
    'node_modules/bundler': { version: '1.0.0', license: 'MPL-2.0', dev: true },
    'node_modules/shipped': { version: '1.0.0', license: 'MPL-2.0' },
  })

  expect(refusedLicences('package-lock.json', lockfile).join()).toMatch(/^package-lock\.json: shipped@/)
})

test('one of several alternative licences is enough, but licences that apply together are all needed', () => {
  const lockfile = locked({
    'node_modules/either': { version: '1.0.0', license: '(GPL-2.0-only OR MIT)' },
    'node_modules/both': { version: '1.0.0', license: 'MIT AND GPL-2.0-only' },
  })

  expect(refusedLicences('package-lock.json', lockfile).join()).toMatch(/^package-lock\.json: both@/)
})

test.each(['package-lock.json', 'tools/sbom/package-lock.json'])('every package of %s has a licence on the list', (file) => {
  expect(refusedLicences(file, readFileSync(resolve(root, file), 'utf8'))).toEqual([])
})
