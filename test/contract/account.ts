import { apiKeysResource } from '../../src/account/api-keys.ts'
import { elasticIpsResource } from '../../src/account/elastic-ips.ts'
import { createListBudget, type Http } from '../../src/account/http.ts'
import { serversResource } from '../../src/account/servers.ts'
import { virtualMachinesResource } from '../../src/account/virtual-machines.ts'
import { ApiError } from '../../src/domain/errors.ts'
import type { Wire } from './generate.ts'

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
    listBudget: createListBudget(),
    shortPages: new Map(),
    close: async () => {},
  }
  const none = () => {}
  return {
    elasticIps: elasticIpsResource(http, none),
    servers: serversResource(http, none),
    virtualMachines: virtualMachinesResource(http, none),
    apiKeys: apiKeysResource(http, none),
  }
}
