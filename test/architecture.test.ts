import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const source = resolve(import.meta.dirname, '../src')

/** From the lowest floor to the highest one. Each imports only floors before it: arrows only go down, those of types included. */
const floors = [
  ...[
    'domain',
    'config',
    'ops',
    'http',
    'redis',
    'account',
    'slack',
    'audit',
    'record',
    'messages',
    'rights',
    'app',
    'outbox',
    'bolt',
    'life',
  ],
  ...['buttons', 'kit', 'checks', 'features', 'start', 'run', 'main'],
]

/** Packages that only some folders may import. */
const owners: [name: RegExp, files: RegExp][] = [
  [/^undici$/, /^(account\/http\.ts$|http\/)/],
  [/^bullmq$/, /^(life\/(worker|self-checks)\.ts|redis\/)/],
  [/^ioredis$/, /^redis\//],
  [/^@slack\//, /^(app\.ts$|(slack|bolt|features|life|buttons|messages|outbox|kit|start)\/)/],
  [/^(pino|pino-pretty|@prometheus-io\/client)$/, /^ops\//],
  [/^@modelcontextprotocol\//, /^features\/machines\/mcp\.ts$/],
  [/^yaml$/, /^config\/yaml\.ts$/],
  [/^fastest-levenshtein$/, /^domain\/text\.ts$/],
  [/^chrono-node\/en$/, /^domain\/times\.ts$/],
  [/^temporal-polyfill$/, /^domain\/(times|hours)\.ts$/],
  [/^re2js$/, /^domain\/reason\.ts$/],
  [/^@simplewebauthn\//, /^features\/passkeys\/ceremony\.ts$/],
]

interface Import {
  file: string
  target: string
}

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
const textOf = new Map(files.map((file) => [file, readFileSync(join(source, file), 'utf8')]))
/** All imports, including those of types. */
const imports: Import[] = files.flatMap((file) =>
  [...(textOf.get(file) ?? '').matchAll(/^(?:import|export)\s[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'/gm)].map((match) => ({
    file,
    target: match[1] ?? match[2] ?? '',
  })),
)

/** Returns the part of a file: `record` for `record/store.ts`, `main` for `main.ts`. */
function partOf(file: string): string {
  const [first = '', second] = file.split('/')
  return second === undefined ? first.replace(/\.ts$/, '') : first
}

/** Returns the feature of a file: a file or a folder of features/. The list of features belongs to none. */
function featureOf(file: string): string | undefined {
  const [first, second = ''] = file.split('/')
  return first === 'features' && second !== 'index.ts' ? second : undefined
}

const inside = imports
  .filter(({ target }) => target.startsWith('.'))
  .map(({ file, target }) => ({ file, target: relative(source, resolve(source, dirname(file), target)) }))
  // The version comes from package.json, which is in no folder of src/.
  .filter(({ target }) => target !== '../package.json')
const packages = imports.filter(({ target }) => !target.startsWith('.') && !target.startsWith('node:'))

/** Finds files that import each other in a circle. */
function circles(): string[][] {
  const targetsOf = Map.groupBy(inside, ({ file }) => file)
  const found: string[][] = []
  const done = new Set<string>()
  const walk = (file: string, path: string[]): void => {
    if (path.includes(file)) return void found.push([...path.slice(path.indexOf(file)), file])
    if (done.has(file)) return
    for (const { target } of targetsOf.get(file) ?? []) walk(target, [...path, file])
    done.add(file)
  }
  for (const file of files) walk(file, [])
  return found
}

describe('the architecture', () => {
  test('has files to check', () => {
    expect(files.length).toBeGreaterThan(40)
    expect(imports.length).toBeGreaterThan(files.length)
  })

  test('has only arrows that go down', () => {
    const wrong = inside.filter(({ file, target }) => {
      const [from, to] = [floors.indexOf(partOf(file)), floors.indexOf(partOf(target))]
      return from < 0 || to < 0 || to > from
    })
    expect(wrong).toEqual([])
  })

  test('has no import circles, not even of types', () => {
    expect(circles()).toEqual([])
  })

  test('has no feature that anything names but itself and the list', () => {
    const wrong = inside.filter(({ file, target }) => {
      const [from, to] = [featureOf(file), featureOf(target)]
      return to !== undefined && from !== to && file !== 'features/index.ts'
    })
    expect(wrong).toEqual([])
  })

  test('lets only the start, the verifier of the audit and the program that trusts passkeys import the configuration', () => {
    const importers = inside
      .filter(({ target }) => target === 'config/config.ts')
      .map(({ file }) => (featureOf(file) ? file : partOf(file)))
    const others = [...new Set(importers)].filter((part) => part !== 'app').toSorted()
    expect(others).toEqual(['audit', 'features/passkeys/trust.ts', 'redis', 'rights', 'run', 'start'])
  })

  test('has packages that only their owners import', () => {
    const wrong = packages.filter(({ file, target }) => owners.some(([name, owner]) => name.test(target) && !owner.test(file)))
    expect(wrong).toEqual([])
  })

  test('lets the domain import only zod, and the packages for mistyped letters, patterns and times', () => {
    const known = new Set(packages.filter(({ file }) => partOf(file) === 'domain').map(({ target }) => target))
    expect([...known].toSorted()).toEqual(['chrono-node/en', 'fastest-levenshtein', 're2js', 'temporal-polyfill', 'zod'])
  })

  test('has one file in each program that reads the environment', () => {
    const readers = files.filter((file) => /process\.env\b/.test(textOf.get(file) ?? ''))
    expect(readers.toSorted()).toEqual(['audit/verify.ts', 'features/passkeys/trust.ts', 'main.ts'])
  })

  test('reveals secrets only in these files', () => {
    const revealers = files.filter((file) => /\.reveal\(\)/.test(textOf.get(file) ?? ''))
    expect(revealers.toSorted()).toEqual([
      'account/http.ts',
      'bolt/answers.ts',
      'bolt/app.ts',
      'domain/signing.ts',
      'ops/token.ts',
      'redis/connect.ts',
      'start/apps.ts',
    ])
  })
})
