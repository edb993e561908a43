import { expect, test } from 'vitest'
import { openRequests } from '../../src/kit/list.ts'
import { requestFor } from '../given/request.ts'

test('an address that an evacuation leaves out has no open request', async () => {
  const request = requestFor({
    input: { serverId: 'sv_1', elasticIpIds: ['eip_1'] },
    facts: { items: [{ elasticIpId: 'eip_1' }], leftOut: [{ elasticIpId: 'eip_2', address: '203.0.113.2' }] },
  })
  const store = { findOpen: async () => ({ requests: [request], unreadable: 0 }) }

  const about = await openRequests({ store: store as never })

  expect(['eip_1', 'eip_2', 'sv_1'].map((id) => about.get(id)?.length)).toEqual([1, undefined, 1])
})
