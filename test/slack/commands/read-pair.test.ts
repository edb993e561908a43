import { expect, it } from 'vitest'
import { readPair } from '../../../src/slack/typed-words.ts'

it.each([
  [[], undefined, undefined, []],
  [['web-1'], 'web-1', undefined, []],
  [['web-1', 'web-2'], 'web-1', 'web-2', []],
  [['web-1', 'to', 'web-2'], 'web-1', 'web-2', []],
  [['web-1', 'TO', 'web-2'], 'web-1', 'web-2', []],
  [['web-1', '->', 'web-2'], 'web-1', 'web-2', []],
  [['web-1', 'to'], 'web-1', undefined, []],
  [['web-1', 'to', 'to'], 'web-1', 'to', []],
  [['to', 'web-2'], 'to', 'web-2', []],
  [['to', 'to', 'web-2'], 'to', 'web-2', []],
  [['to', 'to', 'to'], 'to', 'to', []],
  [['web-1', 'web-2', 'please', 'now'], 'web-1', 'web-2', ['please', 'now']],
])('two things are read with or without "to", and things that are named so too: %j', (args, first, second, rest) => {
  expect(readPair(args)).toEqual({ first, second, rest })
})
