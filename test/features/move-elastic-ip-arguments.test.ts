import { expect, test } from 'vitest'
import { readMove } from '../../src/features/ip-move.ts'

const ip = '203.0.113.11'

test.each([
  [`${ip} web-1`, [ip, 'web-1', []]],
  [`${ip} to web-1`, [ip, 'web-1', []]],
  [`${ip},web-1`, [ip, 'web-1', []]],
  ['to web-1', [undefined, 'web-1', []]],
  [`${ip} to`, [ip, undefined, []]],
  [`${ip} web-1 now please`, [ip, 'web-1', ['now', 'please']]],
  [`${ip} from web-3 to web-1`, [ip, 'from', ['web-3', 'to', 'web-1']]],
])('a move is read with or without words between, and words that are too many are not dropped: %s', (text, expected) => {
  const { first, second, rest } = readMove(text.split(' '))

  expect([first, second, rest]).toEqual(expected)
})
