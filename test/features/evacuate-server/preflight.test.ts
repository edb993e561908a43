import { expect, test } from 'vitest'
import type { AccountApi } from '../../../src/account-api/client.ts'
import type { Server } from '../../../src/domain/account/server.ts'
import { createPreflight } from '../../../src/features/evacuate-server/preflight.ts'

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
