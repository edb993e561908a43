import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { waits } from './waits.ts'

const root = join(import.meta.dirname, '..')

const number = String.raw`(\d[\d_]{3,})`
/** The limit of a test, a hook or a group, as its last argument or as an option. */
const ofTests = new RegExp(String.raw`^ *\}, ${number}\)$|\{\s*timeout: ${number},?\s*\}, (?:async )?\(`, 'gm')
/** What is waited for in a test, or in what tests import. */
const ofWaits = new RegExp(String.raw`\btimeout(?:Ms)?(?:: | = )${number}`, 'g')

function numbersIn(text: string, pattern: RegExp): number[] {
  return [...text.matchAll(pattern)].map(([, ...found]) => Number(found.find(Boolean)?.replaceAll('_', '')))
}

/** The parts of a file in which something is waited for as long as the test, or the shortest test, may take. */
function tooLong(text: string, usual: number): { wait: number; limit: number }[] {
  const parts = text.split(/(?<=^\}.*\n)/m).map((part) => {
    const unsaid = /\buntil(Shown|Report|Card)?\(/.test(part) ? waits.until : /\bpoll\(/.test(part) ? waits.poll : 0
    const limits = numbersIn(part, ofTests)
    return {
      wait: Math.max(unsaid, ...numbersIn(part.replaceAll(ofTests, ''), ofWaits)),
      limit: limits.length > 0 ? Math.min(...limits) : usual,
    }
  })
  return parts.filter(({ wait, limit }) => wait >= limit)
}

test('no test waits for something as long as it may take itself', () => {
  const found = globSync('test/**/*.ts', { cwd: root, exclude: ['**/waits.test.ts'] }).flatMap((file) => {
    // What is in these folders and no test is used by their long tests.
    const isLong = /^test\/(faults|attacks|model|image)\/|\.long\.test\.ts$/.test(file)
    const those = tooLong(readFileSync(join(root, file), 'utf8'), isLong ? waits.longTest : waits.test)
    return those.map((each) => ({ file, ...each }))
  })
  expect(found).toEqual([])
})

test('each usual wait ends before the one around it, and one that does not is found', () => {
  const { poll, until, test, longTest } = waits
  expect([poll, until, test, longTest]).toEqual([poll, until, test, longTest].toSorted((a, b) => a - b))
  const text =
    "test('a', () => {\n  f({ timeout: 90_000 })\n}, 80_000)\ntest('b', { timeout: 70_000 }, () => {\n  f({ timeoutMs: 65_000 })\n})\n"
  expect(tooLong(`${text}function g({ timeoutMs = 60_000 }) {}\n`, test)).toEqual([
    { wait: 90_000, limit: 80_000 },
    { wait: 60_000, limit: test },
  ])
})
