import { expect, test } from 'vitest'
import type { AccountApi } from '../../../src/account/client.ts'
import type { Server } from '../../../src/domain/account.ts'
import { createPreflight, createReadAddresses } from '../../../src/features/ip-evacuate.ts'
import { assignedServerFor, elasticIpFor, ids, serverFor } from '../../domain/account-objects.ts'

const place = { project: undefined, site: { id: undefined, name: undefined, slug: 'ASH' } }

test('an evacuation to the server itself is refused by its name, not by its id', async () => {
  const web1: Server = { id: 'sv_1', hostname: 'web-1', label: undefined, primaryIpv4: undefined, status: 'on', locked: false, ...place }
  const accountApi = { servers: { get: async () => web1, list: async () => [web1] } } as unknown as Pick<
    AccountApi,
    'elasticIps' | 'servers'
  >
  const readAddresses = async () => ({ all: [], single: new Map(), seen: [] })
  const preflight = createPreflight({ accountApi, readAddresses })

  const refused = preflight({ serverId: 'sv_1', targetId: 'sv_1' }, { signal: AbortSignal.timeout(1_000), forRequest: true })

  await expect(refused).rejects.toThrow("web-1 can't be evacuated to itself.")
})

test.each([true, false])(
  'one list serves for all addresses, those that show no server and BGP included (for a request: %s)',
  async (forRequest) => {
    const dead = [1, 2].map((index) => elasticIpFor({ id: `eip_${index}`, address: `203.0.113.${index}`, server: undefined }))
    const all = [...dead, elasticIpFor({ id: 'ueip_3', address: '203.0.113.3', server: undefined })]
    const reads: string[] = []
    const accountApi = {
      elasticIps: {
        list: async (filter: object) => {
          reads.push(`list ${Object.keys(filter).filter((key) => key !== 'signal')}`)
          return all
        },
        get: async (id: string) => Promise.reject(new Error(`${id} is read alone`)),
      },
      servers: { get: async (id: string) => (id === ids.web1 ? assignedServerFor() : serverFor()), list: async () => [] },
    } as unknown as Pick<AccountApi, 'elasticIps' | 'servers'>
    const seenThere = dead.map(({ id, address }) => ({
      elasticIpId: id,
      address,
      serverId: ids.web1,
      serverName: 'web-1',
      at: 0,
      agoMs: 60_000,
    }))
    const preflight = createPreflight({
      accountApi,
      readAddresses: createReadAddresses({ accountApi, seen: { find: async () => seenThere } }),
    })
    const elasticIpIds = forRequest ? {} : { elasticIpIds: dead.map(({ id }) => id) }

    const { facts } = await preflight({ serverId: ids.web1, targetId: ids.web2, ...elasticIpIds }, { forRequest })

    expect(facts.items.map(({ address }) => address)).toEqual(['203.0.113.1', '203.0.113.2'])
    expect(facts.bgp).toEqual(['203.0.113.3'])
    expect(reads).toEqual(['list '])
  },
)
