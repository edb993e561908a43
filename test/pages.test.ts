import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const filesBelow = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`)

const docs = filesBelow('docs').filter((path) => path.endsWith('.md'))
const pages = ['README.md', 'CONTRIBUTING.md', '.env.example', ...docs]
const files = [...readdirSync(root), ...['src', 'test', 'scripts', 'docs', 'deploy'].flatMap(filesBelow)]
const sources = files.filter((path) => path.startsWith('src/') && path.endsWith('.ts'))

/** Returns what a page sets as code. */
const codeIn = (page: string) => [...read(page).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)

const exists = (path: string) => existsSync(join(root, path))
const isTest = (name: string) => exists(`test/${name}.test.ts`) || exists(`test/${name}.long.test.ts`)

describe.each(pages)('%s', (page) => {
  test('names paths that exist', () => {
    const named = [...read(page).matchAll(/(?<![\w/.-])(?:src|test|docs|scripts|deploy)\/[\w./<>-]+/g)].map(([path]) =>
      path.replace(/\.$/, ''),
    )
    expect(named.filter((path) => !path.includes('<') && !exists(path))).toEqual([])
  })

  test('names files that exist', () => {
    const named = codeIn(page).filter((code) => /^[\w./-]*\w\.(?:ts|lua|md|ya?ml|json)$/.test(code))
    expect(named.filter((name) => !files.some((file) => file === name || file.endsWith(`/${name}`)))).toEqual([])
  })

  test('names tests and folders that exist', () => {
    const tops = readdirSync(join(root, 'test'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    const named = codeIn(page).filter((code) => /^[\w-]+(?:\/[\w-]+)+$/.test(code) && tops.some(({ name }) => code.startsWith(`${name}/`)))
    expect(named.filter((name) => !isTest(name) && ![`src/${name}.ts`, `src/${name}`, name].some(exists))).toEqual([])
  })

  test('links to pages that exist', () => {
    const links = [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, link = '']) => link)
    expect(links.filter((link) => !exists(join(dirname(page), link.split('#')[0] ?? '')))).toEqual([])
  })

  test('links to headings that exist', () => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)]
    const broken = links.filter(([, to = '', heading = '']) => !headingsOf(to === '' ? page : join(dirname(page), to)).includes(heading))
    expect(broken.map(([link]) => link)).toEqual([])
  })
})

/** Returns the anchors of a page's headings, as GitHub and GitLab make them. */
function headingsOf(page: string): string[] {
  const headings = [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, words = '']) => words.toLowerCase())
  return headings.map((words) => words.replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-'))
}

test.each([
  ['README.md', 100],
  ['docs/using.md', 120],
])('%s has less than %i lines', (page, most) => {
  expect(read(page).trimEnd().split('\n').length).toBeLessThan(most)
})

test('README shows a request message and a table, for light and dark pages', () => {
  const shown = [...read('README.md').matchAll(/(?:src|srcset)="([^"]+)"/g)].map(([, path = '']) => path)
  expect(shown.filter((path) => !exists(path))).toEqual([])
  expect(shown.toSorted()).toEqual(
    ['request-message', 'table'].flatMap((name) => ['dark', 'light'].map((scheme) => `docs/pictures/${name}-${scheme}.webp`)),
  )
})

test.each([
  ['docs/faults.md', -1],
  ['docs/security.md', 2],
])('the tables in %s name tests that exist', (page, column) => {
  const rows = [...read(page).matchAll(/^\| (.*) \|$/gm)].map(([, row = '']) => row.split(' | '))
  const cells = rows.map((row) => row.at(column) ?? '').filter((cell) => cell.includes('`'))
  const named = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((name) => !isTest(name))).toEqual([])
})

test.each(['CONTRIBUTING.md', ...docs.filter((path) => path.startsWith('docs/decisions/'))])(
  '%s names functions and types that exist',
  (page) => {
    const text = sources.map(read).join('\n')
    const named = codeIn(page).flatMap((code) => (/^(?:[a-z]+[A-Z]\w*|[A-Z][a-z]\w*)(?:\.\w+)?$/.test(code) ? code.split('.') : []))
    expect(named.filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([])
  },
)
