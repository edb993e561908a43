import { expect, test } from 'vitest'
import { mutantsOf } from './mutate.ts'
import { matching, topics } from './topics.ts'

test.each(Object.entries(topics))('each path of the topic %s names a file', (_, { files, tests }) => {
  for (const pattern of [...files, ...tests]) expect(matching(pattern, '.')).not.toEqual([])
})

test('each part of a function has mutants that can be parsed, and types, sentences and lines of the log have none', () => {
  const code = `
interface Limits { most: 3 }
export function next(state: string, limits?: Limits): object | undefined {
  if (state !== 'waiting') return undefined
  log.info('It has waited.', { more: 1 > 2 })
  end(state)
  return { name: 'expire', what: 'The deadline passed', steps: [1, 20] }
}`
  expect(mutantsOf('next.ts', code).map(({ line, what }) => `${line}: ${what}`)).toMatchInlineSnapshot(`
    [
      "4: state !== 'waiting' → !(state !== 'waiting')",
      "4: if (state !== 'waiting') return undefined → removed",
      "6: end(state) → ;",
      "7: { name: 'expire', what: 'The deadline passed', steps: [1, 20] } → undefined",
      "7: name: 'expire' → ...{}",
      "7: steps: [1, 20] → ...{}",
      "7: 1 → ...[]",
      "7: 20 → ...[]",
      "7: 1 → 2",
      "7: 20 → (2 * 20)",
    ]
  `)
})

test('a script for Redis is mutated outside of its comments', () => {
  const script = `
-- A repeat == no change.
if last == token then return { 'won' } end
  redis.call('SET', KEYS[1], now + 1) -- and
`
  expect(mutantsOf('take.lua', script).map(({ line, what }) => `${line}: ${what}`)).toMatchInlineSnapshot(`
    [
      "3: == → ~=",
      "4: + → -",
      "4: redis.call('SET', KEYS[1], now + 1) → removed",
      "3: if last == token then return { 'won' } end → removed",
    ]
  `)
})
