import type { ApiKey } from '../../../src/domain/account.ts'
import { type Documented, sources } from './documented.ts'

const providerTests =
  'latitudesh/terraform-provider-latitudesh, latitudesh/resource_api_key_offline_test.go at 513e9ef4: written by hand for its tests'
const goTests = 'latitudesh/latitudesh-go-sdk, tests/integration/helpers/mock_data.go at 0c68246e: written by hand for the tests of the SDK'

const wire = {
  id: 'tok_57jvG72qDZNTv',
  type: 'api_keys',
  attributes: {
    name: 'deploy',
    api_version: '2023-06-01',
    token_last_slice: '0ff1c',
    read_only: false,
    allowed_ips: [] as string[] | null,
    last_used_at: null,
    user: { id: 'user_Wel4PnEAmauQYZz3Vz83CkyV2BW', email: 'ada.okafor@nimbus.example' },
    created_at: '2026-01-14T15:56:29+00:00',
    updated_at: '2026-01-14T14:56:29+00:00',
  },
}

const reads: ApiKey = {
  id: 'tok_57jvG72qDZNTv',
  name: 'deploy',
  tokenLastSlice: '0ff1c',
  apiVersion: '2023-06-01',
  readOnly: false,
  allowedIps: [],
  createdAt: '2026-01-14T15:56:29+00:00',
  updatedAt: '2026-01-14T14:56:29+00:00',
  lastUsedAt: undefined,
  user: { id: 'user_Wel4PnEAmauQYZz3Vz83CkyV2BW', email: 'ada.okafor@nimbus.example' },
}

function but(attributes: Record<string, unknown>) {
  return { ...wire, attributes: { ...wire.attributes, ...attributes } }
}

const { read_only: _, allowed_ips: __, ...older } = wire.attributes

export const apiKeys: Documented<ApiKey>[] = [
  { name: 'never used, and usable from everywhere', source: sources.specification, wire, reads },
  {
    name: 'usable from everywhere, as null',
    source: sources.januaryExamples,
    wire: but({ allowed_ips: null }),
    reads,
  },
  {
    name: 'from before keys could be read-only or limited to addresses: what it does not show is not known',
    source: sources.januaryExamples,
    wire: { ...wire, attributes: { ...older, last_used_at: '2025-10-18T03:22:51.570Z' } },
    reads: { ...reads, readOnly: undefined, allowedIps: undefined, lastUsedAt: '2025-10-18T03:22:51.570Z' },
  },
  {
    name: 'read-only, and usable from some addresses',
    source: providerTests,
    wire: but({ read_only: true, allowed_ips: ['203.0.113.10', '198.51.100.0/24'], token_last_slice: 'aBcDe' }),
    reads: { ...reads, readOnly: true, allowedIps: ['203.0.113.10', '198.51.100.0/24'], tokenLastSlice: 'aBcDe' },
  },
  {
    name: 'with an id of another form and an older version',
    source: goTests,
    wire: { ...but({ api_version: 'v1' }), id: 'apikey_test123' },
    reads: { ...reads, id: 'apikey_test123', apiVersion: 'v1' },
  },
]

export const token = 'd00dfeedd00dfeedd00dfeedd00dfeed0ff1c'.slice(1)

/** The answers to a creation and a rotation. An answer without a token is a `misfit`, because nobody could use the key. */
export const issuedApiKeys: Documented<ApiKey>[] = [
  { name: 'with its token', source: sources.specification, wire: but({ token }), reads },
  {
    name: 'with its token, and its addresses null',
    source: sources.januaryExamples,
    wire: but({ token, allowed_ips: null }),
    reads,
  },
  { name: 'without its token, as some examples show it', source: sources.januaryExamples, wire, reads: 'misfit' },
]
