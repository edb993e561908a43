import fc from 'fast-check'
import { accountOver } from '../../src/account/client.ts'
import type { Http } from '../../src/account/http.ts'
import { ElasticIpResponse, ServerResponse } from '../../src/account/objects.ts'
import { ApiError } from '../../src/domain/errors.ts'
import { elasticIps, servers } from './documented.ts'
import { answersOf, elasticIpWords, serverWords, type Wire } from './generate.ts'
import { type MoveObjects, shown } from './visible.ts'

interface Wires {
  elasticIps?: Wire[]
  servers?: Wire[]
  virtualMachines?: Wire[]
  apiKeys?: Wire[]
  /** Paths that answer 503: a collection with all its resources (`/servers`), or one resource (`/servers/sv_1`). */
  unavailable?: string[]
}

/** Creates the client's resources over these answers, without a transport. Only reads are answered. */
export function accountOf({ elasticIps = [], servers = [], virtualMachines = [], apiKeys = [], unavailable = [] }: Wires) {
  const collections: Record<string, Wire[]> = {
    '/elastic_ips': elasticIps,
    '/servers': servers,
    '/virtual_machines': virtualMachines,
    '/auth/api_keys': apiKeys,
  }

  function answer(operation: string, path: string): unknown {
    const { pathname, searchParams } = new URL(path, 'http://account.invalid')
    const plain = decodeURIComponent(pathname)
    if (unavailable.some((prefix) => plain === prefix || plain.startsWith(`${prefix}/`)))
      throw new ApiError({ operation, status: 503, codes: [] })
    const listed = collections[pathname]
    if (listed) return { data: Number(searchParams.get('page[number]') ?? 1) === 1 ? listed : [], meta: {} }
    const collection = Object.keys(collections).find((prefix) => pathname.startsWith(`${prefix}/`)) ?? ''
    const one = collections[collection]?.find(({ id }) => plain === `${collection}/${id}`)
    if (!one) throw new ApiError({ operation, status: 404, codes: [] })
    return { data: one, meta: {} }
  }

  const http: Http = {
    call: async ({ operation, method, path, read }) => {
      if (method !== 'GET') throw new Error(`${operation} writes`)
      return read(answer(operation, path), 0)
    },
    listMs: 30_000,
    onSkipped: () => {},
    reading: { bytes: 0 },
    shortPages: new Map(),
    close: async () => {},
  }
  return accountOver(http)
}

export const anElasticIp = answersOf(ElasticIpResponse, elasticIpWords).map((wire) => withId(wire as Wire))
export const aServer = answersOf(ServerResponse, serverWords) as fc.Arbitrary<Wire>

/** Gives an Elastic IP an id, because one without an id cannot be requested. */
function withId(elasticIp: Wire): Wire {
  return shown(elasticIp, 'id') === undefined ? { ...elasticIp, id: 'eip_KeQbB4BoO6x10' } : elasticIp
}

/** Builds the objects of a move. `other` becomes the server that the Elastic IP is on, unless that is the target. */
export function assemble(elasticIp: Wire, target: Wire, other: Wire | undefined): MoveObjects {
  const on = shown(elasticIp, 'attributes', 'server', 'id')
  if (on === target.id) return { elasticIp, target, assigned: target }
  return { elasticIp, target, assigned: on === undefined || !other ? undefined : { ...other, id: on } }
}

export const moveObjects: fc.Arbitrary<MoveObjects> = fc
  .tuple(anElasticIp, aServer, fc.option(aServer, { nil: undefined, freq: 5 }))
  .map((wires) => assemble(...wires))

/** Combines every documented Elastic IP that has an id with every documented server as the target, and as the old server, or with none. */
export function documentedMoveObjects(): MoveObjects[] {
  const targets = servers.map(({ wire }, index) => ({ ...wire, id: `sv_target${index}` }))
  return elasticIps
    .filter(({ wire }) => wire.id !== null)
    .flatMap(({ wire }) => targets.flatMap((target) => [undefined, ...servers].map((other) => assemble(wire, target, other?.wire))))
}

export function inputOf({ elasticIp, target }: MoveObjects): { elasticIpId: string; serverId: string } {
  return { elasticIpId: String(elasticIp.id), serverId: String(target.id) }
}
