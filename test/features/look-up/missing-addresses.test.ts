import { expect, test } from 'vitest'
import type { ElasticIp, Server, VirtualMachine } from '../../../src/domain/account.ts'
import { missingAddresses } from '../../../src/features/look-up.ts'

const lists = {
  elasticIps: [
    { address: '203.0.113.10' },
    { address: '203.0.113.64/28' },
    { address: 'eip_1' },
    { address: '2001:db8::/64' },
  ] as ElasticIp[],
  servers: [{ primaryIpv4: '198.51.100.21' }, { primaryIpv4: undefined }] as Server[],
  virtualMachines: [{ primaryIpv4: '192.0.2.110' }] as VirtualMachine[],
}

test('the addresses that nothing on the account has, in the order of the words', () => {
  const words = ['web-9', '203.0.113.99', '203.0.113.10', '198.51.100.21', '192.0.2.110', '203.0.113.7', 'sv_9', '203.0.113']

  expect(missingAddresses(words, lists)).toEqual(['203.0.113.99', '203.0.113.7'])
})

test('an address in the block of an Elastic IP is on the account, and of IPv6 addresses the lists show too little', () => {
  expect(missingAddresses(['203.0.113.70', '203.0.113.80', '2001:db8:9::1'], lists)).toEqual(['203.0.113.80'])
})
