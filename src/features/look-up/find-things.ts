import type { ElasticIp } from '../../domain/account/elastic-ip.ts'
import type { Server } from '../../domain/account/server.ts'
import type { VirtualMachine } from '../../domain/account/virtual-machine.ts'
import type { ThingKind } from '../../domain/change/offer.ts'

export interface Lists {
  elasticIps: ElasticIp[]
  servers: Server[]
  virtualMachines: VirtualMachine[]
}

/** A thing on the account that a message names. */
export interface Thing {
  kind: ThingKind
  id: string
}

/** How the ids of the service begin (`ueip_`: BGP), followed by letters and digits. Anything else is not read by its id. */
const ids: [ThingKind, RegExp][] = [
  ['elastic-ip', /^u?eip_[A-Za-z0-9]{1,40}$/],
  ['server', /^sv_[A-Za-z0-9]{1,40}$/],
  ['virtual-machine', /^vm_[A-Za-z0-9]{1,40}$/],
]

/**
 * Finds what the words name, in the order of the words. Ids must match exactly, and names and addresses whole, whatever their case. A word
 * that looks like an id counts although no list has it, because lists can be incomplete.
 */
export function findThings(words: string[], { elasticIps, servers, virtualMachines }: Lists): Thing[] {
  const places = new Map(words.toReversed().map((word, index) => [word.toLowerCase(), words.length - index]))
  const exact = new Set(words)
  const found: { thing: Thing; at: number }[] = []

  function look(kind: ThingKind, id: string, names: (string | undefined)[]): void {
    const at = [exact.has(id) ? id : undefined, ...names].flatMap((name) => places.get(name?.toLowerCase() ?? '') ?? [])
    if (at.length > 0) found.push({ thing: { kind, id }, at: Math.min(...at) })
  }

  for (const { id, address } of elasticIps) look('elastic-ip', id, [address.replace(/\/\d{1,3}$/, '')])
  for (const { id, hostname, primaryIpv4 } of servers) look('server', id, [hostname, primaryIpv4])
  for (const { id, name, primaryIpv4 } of virtualMachines) look('virtual-machine', id, [name, primaryIpv4])
  const listed = new Set(found.map(({ thing }) => thing.id))
  for (const word of words) {
    const [kind] = ids.find(([, pattern]) => pattern.test(word)) ?? []
    if (kind && !listed.has(word)) found.push({ thing: { kind, id: word }, at: places.get(word.toLowerCase()) ?? 0 })
  }
  return found.toSorted((a, b) => a.at - b.at).map(({ thing }) => thing)
}
