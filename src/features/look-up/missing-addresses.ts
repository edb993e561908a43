import { BlockList, isIP, isIPv4 } from 'node:net'
import type { Lists } from './find-things.ts'

/**
 * Returns the IPv4 addresses among the words that nothing on the account has. The lists must be whole. An address within the block of an
 * Elastic IP is on the account. IPv6 addresses are left out, because the lists don't show those that servers have of their own.
 */
export function missingAddresses(words: string[], { elasticIps, servers, virtualMachines }: Lists): string[] {
  const addresses = words.filter((word) => isIPv4(word))
  if (addresses.length === 0) return []
  const own = new Set([...servers, ...virtualMachines].map(({ primaryIpv4 }) => primaryIpv4))
  const elastic = new BlockList()
  for (const { address } of elasticIps) {
    const [start = '', prefix = '32'] = address.split('/')
    if (isIP(start) === 4 && /^\d{1,2}$/.test(prefix) && Number(prefix) <= 32) elastic.addSubnet(start, Number(prefix), 'ipv4')
  }
  return addresses.filter((address) => !own.has(address) && !elastic.check(address, 'ipv4'))
}
