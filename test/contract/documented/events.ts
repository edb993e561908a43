import type { AccountEvent } from '../../../src/domain/account.ts'
import { type Documented, sources } from './documented.ts'

const providerTests =
  'latitudesh/terraform-provider-latitudesh, latitudesh/datasource_event_offline_test.go at f8c16ae6: written by hand for its tests'
const model = 'latitudesh/latitudesh-typescript-sdk, docs/models/eventdataattributes.md at 4bc31cf0: generated from the OpenAPI document'

export const events: Documented<AccountEvent>[] = [
  {
    name: 'with a project, a team and empty properties',
    source: providerTests,
    wire: {
      id: 'evt_1FCY1WgOpwoIk',
      type: 'events',
      attributes: {
        action: 'server.power_on',
        created_at: '2026-07-01T12:00:00Z',
        author: { id: 'user_1', name: 'Ada', email: 'ada.okafor@nimbus.example' },
        project: { id: 'proj_6059EqYkOQj8p', name: 'Storefront', slug: 'storefront' },
        team: { id: 'team_1', name: 'Nimbus Works' },
        target: { id: 'sv_W3mVpQ0xNd7Lk', name: 'web-2' },
        properties: {},
      },
    },
    reads: {
      id: 'evt_1FCY1WgOpwoIk',
      action: 'server.power_on',
      target: { id: 'sv_W3mVpQ0xNd7Lk', name: 'web-2' },
      author: { id: 'user_1', name: 'Ada', email: 'ada.okafor@nimbus.example' },
      createdAt: '2026-07-01T12:00:00Z',
    },
  },
  {
    name: 'every attribute may be left out',
    source: model,
    wire: { id: 'evt_1FCY1WgOpwoIk', type: 'events', attributes: {} },
    reads: { id: 'evt_1FCY1WgOpwoIk', action: undefined, target: undefined, author: undefined, createdAt: undefined },
  },
  {
    name: 'without attributes: nothing that could be shown',
    source: providerTests,
    wire: { id: 'evt_1FCY1WgOpwoIk', type: 'events' },
    reads: 'misfit',
  },
  { name: 'with nothing at all', source: sources.januaryExamples, wire: {}, reads: 'misfit' },
]
