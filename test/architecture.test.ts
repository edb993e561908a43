import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const source = resolve(import.meta.dirname, '../src')

/** The folders that each folder may import. Arrows only go down. */
const mayImport: Record<string, string[]> = {
  main: ['run'],
  run: ['bot', 'features', 'config', 'ops', 'domain'],
  bot: ['config', 'features', 'alerts', 'requests', 'audit', 'account-api', 'slack', 'redis', 'ops', 'domain'],
  features: ['requests', 'audit', 'slack', 'moves', 'account-api', 'domain'],
  alerts: ['requests', 'slack', 'redis', 'moves', 'account-api', 'domain'],
  moves: ['account-api', 'domain'],
  requests: ['audit', 'redis', 'slack', 'domain'],
  audit: ['redis', 'domain'],
  slack: ['domain'],
  'account-api': ['redis', 'domain'],
  redis: ['domain'],
  ops: ['domain'],
  config: ['domain'],
  domain: [],
}

/** The program that verifies the audit also reads the configuration, and describes errors as the log does. */
const verifier: Record<string, string[]> = { 'audit/verification/check.ts': ['config', 'ops'], 'audit/verify.ts': ['config', 'ops'] }

/** The rooms of requests/, from top to bottom. A room may import the rooms below it. */
const roomsOfRequests = [
  ['interactions', 'worker'],
  ['hand-over'],
  ['reconcile'],
  ['lifecycle'],
  ['access'],
  ['outbox'],
  ['messages'],
  ['store'],
  ['catalog.ts', 'steps.ts'],
  ['steps'],
]

/** The rooms of domain/, from top to bottom. A room may import the rooms below it. */
const roomsOfDomain = [
  ['evacuation'],
  ['elastic-ip-move'],
  ['errors', 'request'],
  ['approval', 'change'],
  ['account', 'policy'],
  ['text', 'signing'],
]

/** Packages that only some folders may import. */
const owners: [name: RegExp, files: RegExp][] = [
  [/^undici$/, /^account-api\/transport\//],
  [/^bullmq$/, /^(requests\/worker|redis)\//],
  [/^ioredis$/, /^redis\//],
  [/^@slack\//, /^(slack|features|requests|bot)\//],
  [/^(pino|prom-client)$/, /^ops\//],
  [/^yaml$/, /^config\/yaml\.ts$/],
  [/^fastest-levenshtein$/, /^domain\/text\/nearest\.ts$/],
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

/** Returns the part of a file: `requests` for `requests/store/store.ts`, `main` for `main.ts`. */
function partOf(file: string): string {
  const [first = '', second] = file.split('/')
  return second === undefined ? first.replace(/\.ts$/, '') : first
}

function featureOf(file: string): string | undefined {
  const [first, second, third] = file.split('/')
  return first === 'features' && third !== undefined ? second : undefined
}

/** Returns how far below the top the room of a file is: -1 for a file that is in none of these rooms. */
function rankIn(part: string, rooms: string[][], file: string): number {
  const [first, room = ''] = file.split('/')
  return first === part ? rooms.findIndex((names) => names.includes(room)) : -1
}

/** Returns the imports of a part that do not go down from one of its rooms to another. */
function arrowsUp(part: string, rooms: string[][]): Import[] {
  return inside.filter(({ file, target }) => {
    const [from, to] = [rankIn(part, rooms, file), rankIn(part, rooms, target)]
    const isOtherRoom = file.split('/')[1] !== target.split('/')[1]
    return from >= 0 && to >= 0 && isOtherRoom && to <= from
  })
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
      const [from, to] = [partOf(file), partOf(target)]
      return from !== to && !mayImport[from]?.includes(to) && !verifier[file]?.includes(to)
    })
    expect(wrong).toEqual([])
  })

  test('has only arrows that go down inside requests/ and domain/', () => {
    const inNoRoom = files.filter((file) => file.startsWith('requests/') && rankIn('requests', roomsOfRequests, file) < 0)
    const foldersInNoRoom = files.filter((file) => /^domain\/[^/]+\//.test(file) && rankIn('domain', roomsOfDomain, file) < 0)
    expect({ inNoRoom, foldersInNoRoom }).toEqual({ inNoRoom: [], foldersInNoRoom: [] })
    expect([...arrowsUp('requests', roomsOfRequests), ...arrowsUp('domain', roomsOfDomain)]).toEqual([])
  })

  test('has no import circles, not even of types', () => {
    expect(circles()).toEqual([])
  })

  test('has no feature that imports another', () => {
    const wrong = inside.filter(({ file, target }) => {
      const [from, to] = [featureOf(file), featureOf(target)]
      return from !== undefined && to !== undefined && from !== to
    })
    expect(wrong).toEqual([])
  })

  test('lets only the bot, the start and the verifier of the audit import the configuration', () => {
    const importers = inside.filter(({ target }) => target === 'config/config.ts').map(({ file }) => partOf(file))
    expect([...new Set(importers)].toSorted()).toEqual(['audit', 'bot', 'run'])
  })

  test('has packages that only their owners import', () => {
    const wrong = packages.filter(({ file, target }) => owners.some(([name, owner]) => name.test(target) && !owner.test(file)))
    expect(wrong).toEqual([])
  })

  test('lets the domain import only zod and the package that counts mistyped letters', () => {
    const known = new Set(packages.filter(({ file }) => partOf(file) === 'domain').map(({ target }) => target))
    expect([...known].toSorted()).toEqual(['fastest-levenshtein', 'zod'])
  })

  test('has one file in each program that reads the environment', () => {
    const readers = files.filter((file) => /process\.env\b/.test(textOf.get(file) ?? ''))
    expect(readers.toSorted()).toEqual(['audit/verify.ts', 'main.ts'])
  })

  test('reveals secrets only in these files', () => {
    const revealers = files.filter((file) => /\.reveal\(\)/.test(textOf.get(file) ?? ''))
    expect(revealers.toSorted()).toEqual([
      'account-api/transport/exchange.ts',
      'alerts/receiver.ts',
      'bot/foundation/api-clients.ts',
      'domain/signing/keyring.ts',
      'redis/connect.ts',
      'slack/receive/app.ts',
      'slack/web-api/show-secret.ts',
    ])
  })
})
