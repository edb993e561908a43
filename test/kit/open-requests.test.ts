import { expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import type { ItemState } from '../../src/domain/request.ts'
import { historiesOf, openRequests } from '../../src/kit/list.ts'
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

test('the last change of an address is none that was to move it too, and never sent it', async () => {
  const item = (id: string, state: ItemState) => ({ id, state, causes: [] })
  const stopped = requestFor({
    kind: 'ip.evacuate',
    resource: 'server:sv_1',
    input: { serverId: 'sv_1', elasticIpIds: ['eip_1', 'eip_2'] },
    state: 'untracked',
    items: [item('eip_1', 'done'), item('eip_2', 'waiting')],
    endedAt: 1,
  })
  const app = {
    store: {
      findOpen: async () => ({ requests: [], unreadable: 0 }),
      lastChangesOf: async () => new Map(),
      ended: async () => [stopped],
    },
    signatures: { verifyRecord: () => 'genuine' },
    catalog: { titleOf: () => ['Evacuate web-1 → web-2'] },
    freezes: { lastRead: () => undefined },
    slack: { identity: { linkTo: () => undefined } },
  } as unknown as App

  const things = [{ kind: 'server', id: 'sv_1' } as const, ...['eip_1', 'eip_2'].map((id) => ({ kind: 'elastic-ip', id }) as const)]
  expect((await historiesOf(app, things)).map((lines) => lines.length)).toEqual([1, 1, 0])
})
