import { expect, test } from 'vitest'
import { parseAllowedAddresses } from '../../src/features/keys-create.ts'

test.each(['203.0.113.7', '203.0.113.0/24', '10.0.0.0/8', '2001:db8::1', '2001:db8::/32', '2001::/16'])(
  '%s is an address or a range',
  (text) => {
    expect(parseAllowedAddresses(text)).toEqual({ addresses: [text], wrong: [] })
  },
)

test.each(['0.0.0.0/0', '::/0', '203.0.113.0/33', '2001:db8::/129', '203.0.113.0/024', '203.0.113.0/', '203.0.113.0/24/24', 'web-1'])(
  '%s is none',
  (text) => {
    expect(parseAllowedAddresses(text)).toEqual({ addresses: [], wrong: [text] })
  },
)

test('two halves of all addresses are refused, because a list of them would not be shown as any address', () => {
  expect(parseAllowedAddresses('0.0.0.0/1, 128.0.0.0/1; ::/1 8000::/1 203.0.113.7')).toEqual({
    addresses: ['203.0.113.7'],
    wrong: ['0.0.0.0/1', '128.0.0.0/1', '::/1', '8000::/1'],
  })
})
