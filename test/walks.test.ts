import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')

const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** One line of a walk. `connector`: the file that creates the called function, where the caller does not. */
interface Hop {
  caller: string
  called: string
  connector?: string
}

/** Reads the call trees of CONTRIBUTING.md. Returns the first file of each, and every call. */
function walks(): { roots: string[]; hops: Hop[] } {
  const roots: string[] = []
  const hops: Hop[] = []
  for (const [, tree = ''] of read('CONTRIBUTING.md').matchAll(/```text\n([^`]*(?:`[^`\n]+`[^`]*)*)```/g)) {
    const callers: string[] = []
    for (const line of tree.trimEnd().split('\n')) {
      const [, indent = '', called = '', connector] = /^( *)(\S+) {2,}\S.*?(?: {2}\[(\S+)\])?$/.exec(line) ?? []
      const depth = indent.length / 2
      const caller = callers[depth - 1]
      if (called === '' || (depth > 0 && caller === undefined)) throw new Error(`a line of a walk cannot be read: ${line}`)
      callers.splice(depth, callers.length, called)
      if (caller === undefined) roots.push(called)
      else hops.push({ caller, called, ...(connector === undefined ? {} : { connector }) })
    }
  }
  return { roots, hops }
}

/** Whether a file imports another for more than its types. A script in Lua is named by the file that runs it. */
function uses(file: string, used: string): boolean {
  const text = read(join('src', file))
  if (used.endsWith('.lua')) return dirname(used) === join(dirname(file), 'lua') && text.includes(`'${/(\w[\w-]*)\.lua$/.exec(used)?.[1]}'`)
  const imported = [...text.matchAll(/^import (?!type )[^'"]*?from '(\.[^']+)'/gm)].map(([, target = '']) => join(dirname(file), target))
  return imported.includes(used)
}

describe('the walks of CONTRIBUTING.md', () => {
  const { roots, hops } = walks()

  test('are trees of files that exist', () => {
    expect(roots).toHaveLength(5)
    expect(hops.length).toBeGreaterThan(70)
    const files = [...roots, ...hops.flatMap(({ called, connector = called }) => [called, connector])]
    expect(files.filter((file) => !existsSync(join(root, 'src', file)))).toEqual([])
  })

  test('follow imports: of the caller, or of the file in brackets', () => {
    expect(hops.filter(({ caller, called, connector = caller }) => !uses(connector, called))).toEqual([])
  })
})
