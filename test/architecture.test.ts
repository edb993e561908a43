import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const source = join(root, 'src')

/** Who may import whom. Arrows only go down; a feature never knows another. */
const mayImport: Record<string, string[]> = {
  main: ['run'],
  run: ['bot', 'config', 'ops', 'domain'],
  bot: ['lifecycle', 'config', 'features', 'changes', 'slack', 'account-api', 'ops', 'domain'],
  lifecycle: ['ops', 'domain'],
  features: ['changes', 'slack', 'account-api', 'domain'],
  changes: ['slack', 'domain'],
  slack: ['domain'],
  'account-api': ['domain'],
  ops: ['domain'],
  config: ['policy-file', 'configuration', 'domain'],
  'policy-file': ['configuration', 'domain'],
  configuration: ['domain'],
  'audit-verify': ['audit-check'],
  'audit-check': ['config', 'changes', 'ops', 'domain'],
  domain: [],
}

/** Packages that belong to somebody. */
const owners: [name: RegExp, files: RegExp][] = [
  [/^undici$/, /^account-api\/http\.ts$/],
  [/^bullmq$/, /^changes\//],
  [/^ioredis$/, /^(changes\/|bot\.ts$)/],
  [/^@slack\//, /^(slack|features|changes)\/|^bot\.ts$/],
  [/^(pino|prom-client)$/, /^ops\//],
  [/^yaml$/, /^configuration\/yaml\.ts$/],
]

interface Import {
  file: string
  target: string
}

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
const imports: Import[] = files.flatMap((file) => {
  const text = readFileSync(join(source, file), 'utf8')
  return [...text.matchAll(/^(?:import|export)\s[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'/gm)].map((match) => ({
    file,
    target: match[1] ?? match[2] ?? '',
  }))
})

/** `changes/card.ts` is of `changes`, `bot.ts` of `bot`, a file of a feature of that feature. */
function partOf(file: string): string {
  const [first = '', second] = file.split('/')
  return second === undefined ? first.replace(/\.ts$/, '') : first
}

function featureOf(file: string): string | undefined {
  const [first, second, third] = file.split('/')
  return first === 'features' && third !== undefined ? second : undefined
}

const inside = imports
  .filter(({ target }) => target.startsWith('.'))
  .map(({ file, target }) => ({ file, target: relative(source, resolve(source, dirname(file), target)) }))
  // The version is told from package.json, which belongs to nobody.
  .filter(({ target }) => target !== '../package.json')
const packages = imports.filter(({ target }) => !target.startsWith('.') && !target.startsWith('node:'))

describe('the house', () => {
  test('there are files to look at', () => {
    expect(files.length).toBeGreaterThan(40)
    expect(imports.length).toBeGreaterThan(files.length)
  })

  test('arrows only go down', () => {
    const wrong = inside.filter(({ file, target }) => {
      const [from, to] = [partOf(file), partOf(target)]
      return from !== to && !mayImport[from]?.includes(to)
    })
    expect(wrong).toEqual([])
  })

  test('a feature never imports another', () => {
    const wrong = inside.filter(({ file, target }) => {
      const [from, to] = [featureOf(file), featureOf(target)]
      return from !== undefined && to !== undefined && from !== to
    })
    expect(wrong).toEqual([])
  })

  test('the configuration is known to those who build, and to nobody else', () => {
    const importers = inside.filter(({ target }) => target === 'config.ts').map(({ file }) => file)
    expect(importers.toSorted()).toEqual(['audit-check.ts', 'bot.ts', 'run.ts'])
  })

  test('packages are used by their owners alone', () => {
    const wrong = packages.filter(({ file, target }) => owners.some(([name, owner]) => name.test(target) && !owner.test(file)))
    expect(wrong).toEqual([])
  })

  test('the domain knows zod and nothing else', () => {
    const known = new Set(packages.filter(({ file }) => partOf(file) === 'domain').map(({ target }) => target))
    expect([...known]).toEqual(['zod'])
  })

  test('the environment has one reader for each program', () => {
    const readers = files.filter((file) => /process\.env\b/.test(readFileSync(join(source, file), 'utf8')))
    expect(readers.toSorted()).toEqual(['audit-verify.ts', 'main.ts'])
  })

  test('secrets are revealed in these files alone', () => {
    const revealers = files.filter((file) => /\.reveal\(\)/.test(readFileSync(join(source, file), 'utf8')))
    expect(revealers.toSorted()).toEqual(['account-api/http.ts', 'bot.ts', 'changes/redis.ts', 'slack/app.ts', 'slack/show-secret.ts'])
  })
})
