import { expect, test } from 'vitest'
import { readMove } from '../../src/features/move-elastic-ip/arguments.ts'

const ip = '203.0.113.11'

test.each([
  [`${ip} web-1`, [ip, undefined, 'web-1']],
  [`${ip} to web-1`, [ip, undefined, 'web-1']],
  [`${ip},web-1`, [ip, undefined, 'web-1']],
  [`${ip} from web-3 to web-1`, [ip, 'web-3', 'web-1']],
  [`${ip} FROM web-3 web-1`, [ip, 'web-3', 'web-1']],
  [`${ip} to web-1 from web-3`, [ip, 'web-3', 'web-1']],
  [`${ip} web-3 to web-1`, [ip, 'web-3', 'web-1']],
  [`${ip} web-3 -> web-1`, [ip, 'web-3', 'web-1']],
  [`${ip} from web-3`, [ip, 'web-3', undefined]],
  [`from web-3 ${ip} to web-1`, [ip, 'web-3', 'web-1']],
  ['from web-3 to web-1', [undefined, 'web-3', 'web-1']],
  ['to web-1', [undefined, undefined, 'web-1']],
  [`${ip} to from`, [ip, undefined, 'from']],
  [`${ip} to`, [ip, undefined, undefined]],
  ['from', ['from', undefined, undefined]],
])('a move is read with or without the server that the address is on: %s', (text, [first, from, second]) => {
  const move = readMove(text.split(' '))

  expect([move.first, move.from, move.second]).toEqual([first, from, second])
  expect(move.rest).toEqual([])
})

test.each([
  [`${ip} web-1 now please`, ['now', 'please']],
  [`${ip} from web-3 to web-1 now`, ['now']],
])('words that are too many are not dropped: %s', (text, rest) => {
  expect(readMove(text.split(' ')).rest).toEqual(rest)
})
