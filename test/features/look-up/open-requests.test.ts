import { expect, test } from 'vitest'
import { findOpenRequests } from '../../../src/features/look-up.ts'
import { requestFor } from '../../requests/request-for-test.ts'

test('an address that an evacuation leaves out has no open request', async () => {
  const request = requestFor({
    input: { serverId: 'sv_1', elasticIpIds: ['eip_1'] },
    facts: { items: [{ elasticIpId: 'eip_1' }], leftOut: [{ elasticIpId: 'eip_2', address: '203.0.113.2' }] },
  })
  const store = { findOpen: async () => ({ requests: [request], unreadable: 0 }) }

  const about = await findOpenRequests(store as never, ['eip_1', 'eip_2', 'sv_1'])

  expect([...about].map(([id, requests]) => [id, requests.length])).toEqual([
    ['eip_1', 1],
    ['eip_2', 0],
    ['sv_1', 1],
  ])
})
