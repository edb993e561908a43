import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

const root = resolve(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const repository = (JSON.parse(read('package.json')).repository as string).replace('github:', '')
const organisation = repository.split('/')[0]

test.each([
  ['README.md', /github\.com\/(.*?)\.git/g],
  ['docs/install.md', /github\.com\/(.*?)\.git/g],
  ['docs/operate.md', /ghcr\.io\/(.*?)[:@]/g],
  ['docs/operate.md', /github\.com\/(.*?)\/\.github/g],
])('%s names the repository of package.json in %s', (file, name) => {
  expect([...read(file).matchAll(name)].map(([, found]) => found)).toEqual([repository])
})

test('CODEOWNERS names folders and files that exist, after an owner for everything', () => {
  const lines = read('.github/CODEOWNERS')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(/\s+/))
  expect(lines[0]?.[0]).toBe('*')
  expect(lines.slice(1).filter(([path = '']) => !existsSync(join(root, path)))).toEqual([])
  for (const [, ...owners] of lines) expect(owners.join()).toMatch(new RegExp(`^@${organisation}/[\\w-]+$`))
  const security = lines.flatMap(([path, owner]) => (owner === `@${organisation}/security` ? [path] : []))
  expect(security).toEqual(expect.arrayContaining(['/src/', '/scripts/setup/', '/test/attacks/']))
})

test('no message has a fixed command: every one names the command that was used, or the configured one', () => {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
  const literal = files.filter((path) => withoutComments(read(join('src', path))).includes('/infra'))
  expect(literal).toEqual([join('config', 'variables.ts')])
  expect(withoutComments("// `/infra help`\n/** `/infra audit` */\nconst a = code('/infra')")).toBe("\n\nconst a = code('/infra')")
})

function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
}

test.each(readdirSync(join(root, '.github/ISSUE_TEMPLATE')))('the issue template %s has what GitHub needs', (file) => {
  const template = parse(read(`.github/ISSUE_TEMPLATE/${file}`))
  if (file === 'config.yml') {
    expect(template).toMatchObject({ blank_issues_enabled: false, contact_links: [{ name: 'A vulnerability' }] })
    return
  }
  expect(template).toMatchObject({ name: expect.any(String), description: expect.any(String) })
  const fields = template.body.filter(({ type }: { type: string }) => type !== 'markdown')
  for (const { id, attributes } of fields)
    expect({ id, attributes }).toMatchObject({ id: expect.stringMatching(/^\w+$/), attributes: { label: expect.stringMatching(/\w/) } })
  expect(new Set(fields.map(({ id }: { id: string }) => id)).size).toBe(fields.length)
})

test('the changelog lists the changes that are not released yet first, and each version has a date', () => {
  const [first, ...versions] = read('CHANGELOG.md').match(/^## .*$/gm) ?? []
  expect(first).toBe('## [Unreleased]')
  for (const heading of versions) expect(heading).toMatch(/^## \[\d+\.\d+\.\d+(-[\w.]+)?\] - \d{4}-\d{2}-\d{2}$/)
})

test('Dependabot groups its updates, and covers every lockfile', () => {
  const { updates } = parse(read('.github/dependabot.yml')) as {
    updates: { 'package-ecosystem': string; directory?: string; directories?: string[]; groups: object }[]
  }
  for (const update of updates) expect(Object.keys(update.groups).length).toBeGreaterThan(0)
  const npm = updates.find((update) => update['package-ecosystem'] === 'npm')
  expect(npm?.directories).toEqual(['/', '/tools/sbom'])
  for (const folder of npm?.directories ?? []) expect(existsSync(join(root, folder, 'package-lock.json'))).toBe(true)
})
