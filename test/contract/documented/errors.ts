const openApi = 'the OpenAPI document of the vendor, 2026: the errors of PATCH /elastic_ips/{elastic_ip_id}'
const errorModel = 'latitudesh/latitudesh-typescript-sdk, docs/models/errort.md at a8fbdc7d: generated from the OpenAPI document'
const rateLimits = 'latitude.sh/docs/api-reference/rate-limits: a page of the documentation'
const provider = 'latitudesh/terraform-provider-latitudesh, latitudesh/resource_elastic_ip.go at 1477be22: the codes that it knows'
const bgpProvider = 'latitudesh/terraform-provider-latitudesh, latitudesh/resource_elastic_ip_bgp.go at 02a7d3d2: the codes that it knows'
const standIn = 'latitudesh/terraform-provider-latitudesh, latitudesh/action_virtual_machine_power_mock_test.go at f386c15c: a stand-in API'
const goTests = 'latitudesh/latitudesh-go-sdk, tests/integration/helpers/mock_data.go at 0c68246e: written by hand for the tests of the SDK'
const elasticIps =
  'latitudesh/latitudesh-go-sdk, docs/sdks/elasticips/README.md in an earlier version (class ElasticIPs): generated from the OpenAPI document'

/** A refusal as a document of the vendor shows it, with invented texts. */
interface DocumentedError {
  name: string
  source: string
  status: number
  /** The body. Undefined if the answer has none. */
  body: unknown
  reads: { codes: string[]; detail: string | undefined; retryAfterMs: number | undefined }
}

const once = { detail: undefined, retryAfterMs: undefined }

export const errors: DocumentedError[] = [
  {
    name: 'the shorter shape',
    source: openApi,
    status: 422,
    body: { errors: [{ code: 'SITE_MISMATCH', message: 'The site is another one.' }] },
    reads: { ...once, codes: ['SITE_MISMATCH'], detail: 'The site is another one.' },
  },
  {
    name: 'the longer shape',
    source: errorModel,
    status: 422,
    body: {
      errors: [
        {
          code: 'VALIDATION_ERROR',
          status: '422',
          title: 'Invalid',
          detail: 'server_id is unknown',
          source: { pointer: '/data/attributes/server_id' },
          meta: {},
        },
      ],
    },
    reads: { ...once, codes: ['VALIDATION_ERROR'], detail: 'server_id is unknown' },
  },
  {
    name: 'an Elastic IP that is not active',
    source: provider,
    status: 422,
    body: { errors: [{ code: 'ELASTIC_IP_NOT_ACTIVE', status: '422', detail: 'It is not active.' }] },
    reads: { ...once, codes: ['ELASTIC_IP_NOT_ACTIVE'], detail: 'It is not active.' },
  },
  {
    name: 'an Elastic IP that is announced by BGP and is never moved',
    source: bgpProvider,
    status: 422,
    body: { errors: [{ code: 'BGP_ELASTIC_IP_NOT_UPDATABLE', status: '422', detail: 'It is announced by BGP.' }] },
    reads: { ...once, codes: ['BGP_ELASTIC_IP_NOT_UPDATABLE'], detail: 'It is announced by BGP.' },
  },
  {
    name: 'a team without the feature',
    source: elasticIps,
    status: 403,
    body: { errors: [{ code: 'FEATURE_NOT_ENABLED', message: 'It is not enabled for the team.' }] },
    reads: { ...once, codes: ['FEATURE_NOT_ENABLED'], detail: 'It is not enabled for the team.' },
  },
  {
    name: 'too many requests: how long to wait stands in the body',
    source: rateLimits,
    status: 429,
    body: {
      errors: [{ code: 'RATE_LIMIT_EXCEEDED', title: 'Too fast', status: '429', detail: 'Slow down.', meta: { retry_after: 60 } }],
    },
    reads: { codes: ['RATE_LIMIT_EXCEEDED'], detail: 'Slow down.', retryAfterMs: 60_000 },
  },
  {
    name: 'not found, with a status and nothing else',
    source: standIn,
    status: 404,
    body: { errors: [{ status: '404' }] },
    reads: { ...once, codes: [] },
  },
  {
    name: 'not found, without a code',
    source: goTests,
    status: 404,
    body: { errors: [{ status: '404', title: 'Not found', detail: 'There is no such thing.' }] },
    reads: { ...once, codes: [], detail: 'There is no such thing.' },
  },
  {
    name: 'not found, without a body',
    source: 'no document: what stands in front of the API may answer so',
    status: 404,
    body: undefined,
    reads: { ...once, codes: [] },
  },
  { name: 'an error object without errors', source: errorModel, status: 422, body: {}, reads: { ...once, codes: [] } },
]
