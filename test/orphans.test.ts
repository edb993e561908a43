import { readdirSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Variables } from '../src/config/variables.ts'
import { errors, refusalCodes } from '../src/domain/codes.ts'
import { createMetrics } from '../src/ops/metrics.ts'
import { steps } from '../src/record/steps.ts'
import { createKeys } from '../src/redis/key-names.ts'

const source = resolve(import.meta.dirname, '../src')
const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
const textOf = new Map(
  files.filter((file) => file.endsWith('.ts')).map((file) => [file, withoutComments(readFileSync(join(source, file), 'utf8'))]),
)

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
}

/** The source without the file that only lists the names. */
function sourceWithout(...lists: string[]): string {
  expect(lists.filter((file) => !textOf.has(file))).toEqual([])
  return [...textOf].flatMap(([file, text]) => (lists.includes(file) ? [] : [text])).join('\n')
}

/** The names that a pattern, made from each, finds nowhere. */
function unused(names: Iterable<string>, text: string, pattern: (name: string) => string): string[] {
  return [...names].filter((name) => !new RegExp(pattern(name)).test(text))
}

const literal = (name: string) => `['"]${name}['"]`

describe('nothing in a list is without a user:', () => {
  test('codes of errors and refusals', () => {
    const text = sourceWithout('domain/codes.ts')
    expect(unused(Object.keys({ ...errors, ...refusalCodes }), text, literal)).toEqual([])
  })

  test('steps of requests', () => {
    expect(unused(Object.keys(steps), sourceWithout('record/steps.ts', 'features/audit/entry-words.ts'), literal)).toEqual([])
  })

  test('keys of Redis', () => {
    const text = sourceWithout('redis/key-names.ts')
    expect(unused(Object.keys(createKeys('x')), text, (key) => `\\.${key}\\b|\\{[^}]*\\b${key}\\b[^}]*\\} = \\S*keys\\b`)).toEqual([])
  })

  test('purposes of signatures', () => {
    const [, purposes = ''] = /^export type Purpose = (.*)$/m.exec(textOf.get('domain/signing.ts') ?? '') ?? []
    const names = [...purposes.matchAll(/'([\w-]+)'/g)].map(([, name = '']) => name)
    expect(names.length).toBeGreaterThan(0)
    expect(unused(names, sourceWithout('domain/signing.ts'), (name) => `keyringFor\\('${name}'\\)`)).toEqual([])
  })

  test('Lua scripts', () => {
    const scripts = files.filter((file) => file.endsWith('.lua')).map((file) => basename(file, '.lua'))
    const called = sourceWithout().replace(/readScripts\([^)]*\)/g, '')
    expect(
      unused(
        scripts.filter((name) => name !== 'prologue'),
        called,
        literal,
      ),
    ).toEqual([])
  })

  test('variables', () => {
    expect(unused(Object.keys(Variables.shape), sourceWithout('config/variables.ts'), (name) => `\\b${name}\\b`)).toEqual([])
  })

  test('metrics', () => {
    const { registry, ...written } = createMetrics()
    expect(unused(Object.keys(written), sourceWithout('ops/metrics.ts'), (name) => `etrics\\??\\.${name}\\b`)).toEqual([])
  })
})
