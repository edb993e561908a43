import { type ElasticIpState, elasticIps } from '../sandbox/account-api/data.ts'
import { ops, untilCard, type World, type WorldOptions } from './world.ts'

/** Addresses of one server. They are on `web-1`, and can be moved to `web-2`. */
export function addresses(count: number, more: (index: number) => Partial<ElasticIpState> = () => ({})): ElasticIpState[] {
  const [first] = elasticIps
  if (!first) throw new Error('the stand-in has no Elastic IPs')
  return Array.from({ length: count }, (_, index) => ({
    ...structuredClone(first),
    id: `eip_evac${String(index).padStart(3, '0')}`,
    address: `203.0.113.${10 + index}`,
    ...more(index),
  }))
}

/** The options of a world in whose account `web-1` has these addresses alone. */
export function withAddresses(own: ElasticIpState[], { account, ...options }: WorldOptions = {}): WorldOptions {
  const others = elasticIps.slice(1).filter(({ address }) => !own.some((each) => each.address === address))
  return { ...options, account: { data: { elasticIps: [...own, ...structuredClone(others)] }, ...account } }
}

/** Requests an evacuation. Waits for its card. */
export async function requestEvacuation(world: World, words = 'web-1 web-2', by = world.ada) {
  await by.command(`/infra evacuate ${words}`, { channel: ops })
  return untilCard(world.slack, /Evacuate .*needs approval from/s)
}

/** Returns the ids of the Elastic IPs that were written, in their order. */
export function patched(world: World): string[] {
  const writes = world.accountApi.journal.writes().filter(({ method, path }) => method === 'PATCH' && path.startsWith('/elastic_ips/'))
  return writes.map(({ path }) => path.slice('/elastic_ips/'.length)).toSorted()
}
