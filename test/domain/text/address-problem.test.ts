import { expect, test } from 'vitest'
import { addressProblem, serverNameProblem } from '../../../src/domain/text.ts'

test.each([
  ['203.0.113.999', '999 is more than 255'],
  ['203.0.113.1O', "1O isn't a number"],
  ['203.0.113.010', '010 begins with a zero'],
  ['203.0.113', 'an IPv4 address has 4 numbers, and this one has 3'],
  ['203.0.113.10.1', 'an IPv4 address has 4 numbers, and this one has 5'],
  ['203.0.113.', 'a number is missing'],
  ['203.0.113.10/33', '/33 is longer than /32'],
  ['203.0.113.10/x', "/x isn't the length of a prefix"],
  ['203.0.113.10/', "/ isn't the length of a prefix"],
  ['203.0.113.10/24/24', 'it has more than one slash'],
  ['2001:db8::g1', 'g1 has other characters than 0 to 9 and a to f'],
  ['2001:db8::12345', '12345 has more than 4 digits'],
  ['2001::db8::1', ':: stands in it more than once'],
  ['2001:db8:1', 'an IPv6 address has 8 groups, and this one has 3'],
  ['1:2:3:4:5:6:7:8:9', 'an IPv6 address has 8 groups, and this one has 9'],
  ['1:2:3:4:5:6:7:8:', 'it has a colon too many'],
  ['2001:db8::/129', '/129 is longer than /128'],
])('%s is no IP address, because %s', (text, why) => {
  expect(addressProblem(text)).toBe(`isn't an IP address: ${why}.`)
  expect(serverNameProblem(text)).toBe(`isn't an IP address: ${why}.`)
})

test.each([
  '203.0.113.10',
  '203.0.113.0/24',
  '2001:db8::1',
  '2001:db8:40:1::/64',
  '::ffff:203.0.113.10',
  'web-1',
  'web-1.example',
  '1.2',
  'eip_1',
  '',
])('nothing is wrong with the address or name "%s"', (text) => {
  expect(addressProblem(text)).toBeUndefined()
  expect(serverNameProblem(text.split('/')[0] ?? '')).toBeUndefined()
})

test('a name with a dot that cannot be a hostname is refused with the reason', () => {
  expect(serverNameProblem('web-2..example')).toBe("isn't a hostname. A hostname has letters or digits before, between and after its dots.")
  expect(serverNameProblem('web_2')).toBeUndefined()
})
