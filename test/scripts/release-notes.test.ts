import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { releaseNotes } from '../../scripts/release-notes.ts'

const changelog = `# Changelog

## [Unreleased]

## [0.2.0] - 2026-12-24

### Added

- Evacuations.

## [0.1.0] - 2026-11-30

First.

[Unreleased]: https://example.com/compare/v0.2.0...HEAD
`

test('the notes of a release are its section of the changelog', () => {
  expect(releaseNotes('v0.2.0', '0.2.0', changelog)).toBe('### Added\n\n- Evacuations.')
  expect(releaseNotes('v0.1.0', '0.1.0', changelog)).toBe('First.')
})

test.each([
  ['a tag of another version', 'v0.2.1', '0.2.0', changelog, 'The tag is v0.2.1, but package.json has the version 0.2.0.'],
  ['a version without a section', 'v0.3.0', '0.3.0', changelog, 'CHANGELOG.md has no section "## [0.3.0] - <date>".'],
  ['a section without a date', 'v0.3.0', '0.3.0', '## [0.3.0] - soon\n\nx\n', 'has no date'],
  ['an empty section', 'v0.3.0', '0.3.0', '## [0.3.0] - 2026-12-31\n\n## [0.2.0] - 2026-12-24\n', 'CHANGELOG.md says nothing about 0.3.0.'],
])('%s stops the release', (_, tag, version, text, message) => {
  expect(() => releaseNotes(tag, version, text)).toThrow(message)
})

test('the changelog describes the version of package.json, so that its tag can be released', () => {
  const read = (file: string) => readFileSync(join(import.meta.dirname, '../..', file), 'utf8')
  const { version } = JSON.parse(read('package.json'))
  expect(releaseNotes(`v${version}`, version, read('CHANGELOG.md'))).not.toBe('')
})
