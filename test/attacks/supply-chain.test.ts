import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(resolve(root, file), 'utf8')

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(resolve(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
]

/** Returns the install commands of a file that somebody may copy, without those of a line that says what `.npmrc` does. */
function installsIn(file: string): string[] {
  return [
    ...read(file)
      .replace(/^.*`\.npmrc`.*$/gm, '')
      .matchAll(/npm (?:ci|install)\b[^`&|\n]*(?:\n +--[^`&|\n]*)*/g),
  ].map(([command]) => command.replace(/\s+/g, ' ').trim())
}

test('publishes a package with an install script, which no install command of the project runs', () => {
  const installs = [...pages, 'Dockerfile', '.ci/run'].flatMap((file) => installsIn(file).map((command) => ({ file, command })))

  expect(installs.length).toBeGreaterThan(4)
  expect(installs.filter(({ command }) => !command.includes('--ignore-scripts'))).toEqual([])
  expect(read('.npmrc').split('\n')).toContain('ignore-scripts=true')
})

test('replaces the binary of Node in a platform package, which no installation for production contains', () => {
  const forProduction = [...pages, 'Dockerfile'].flatMap(installsIn).filter((command) => command.includes('--omit=dev'))

  expect(forProduction.length).toBeGreaterThan(1)
  expect(forProduction.filter((command) => !command.includes('--omit=optional'))).toEqual([])
})
