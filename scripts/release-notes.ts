import { readFileSync } from 'node:fs'

/** Returns the notes of a version from CHANGELOG.md. Throws if the tag, package.json and the changelog do not agree. */
export function releaseNotes(tag: string, version: string, changelog: string): string {
  if (tag !== `v${version}`) throw new Error(`The tag is ${tag}, but package.json has the version ${version}.`)
  const sections = changelog.split(/^## /m).slice(1)
  const section = sections.find((text) => text.startsWith(`[${version}] - `))
  if (!section) throw new Error(`CHANGELOG.md has no section "## [${version}] - <date>".`)
  const [heading = '', ...lines] = section.split('\n')
  if (!/ - \d{4}-\d{2}-\d{2}$/.test(heading)) throw new Error(`CHANGELOG.md: "## ${heading}" has no date like 2026-11-30.`)
  const notes = lines
    .filter((line) => !/^\[[^\]]+\]: /.test(line))
    .join('\n')
    .trim()
  if (notes === '') throw new Error(`CHANGELOG.md says nothing about ${version}.`)
  return notes
}

if (process.argv[1] === import.meta.filename) {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  try {
    process.stdout.write(`${releaseNotes(process.argv[2] ?? '', version, readFileSync('CHANGELOG.md', 'utf8'))}\n`)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 1
  }
}
