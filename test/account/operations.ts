import type { AccountApi } from '../../src/account/client.ts'
import { sample } from '../contract/documented.ts'

export interface Operation {
  name: string
  /** What it sends if the id is `id_1`. */
  request: string
  data?: object
  /** The `data` of the answer. */
  answer: unknown
  call: (api: AccountApi, id: string) => Promise<unknown>
}

/** A value with more members than the operation accepts. */
const hostileName = Object.assign(Object('search-2'), { plan: 'vm.large', billing: 'monthly', tags: [] })
const allowedIps = ['203.0.113.10', '198.51.100.0/24']
const page = 'page%5Bsize%5D=100&page%5Bnumber%5D=1'

export const operations: Operation[] = [
  {
    name: 'Elastic IPs by status',
    request: `GET /elastic_ips?filter%5Bstatus%5D=moving&${page}`,
    answer: [sample.elasticIp],
    call: (api) => api.elasticIps.list({ status: 'moving' }),
  },
  { name: 'one Elastic IP', request: 'GET /elastic_ips/id_1', answer: sample.elasticIp, call: (api, id) => api.elasticIps.get(id) },
  {
    name: 'a move',
    request: 'PATCH /elastic_ips/id_1',
    data: { type: 'elastic_ips', attributes: { server_id: 'sv_2' } },
    answer: sample.elasticIp,
    call: (api, id) => api.elasticIps.move(id, 'sv_2'),
  },
  {
    name: 'servers by hostname, and a typed one stays one value of the query',
    request: `GET /servers?filter%5Bhostname%5D=web+2%26page%5Bsize%5D%3D1&stats%5Btotal%5D=count&${page}`,
    answer: [sample.server],
    call: (api) => api.servers.list({ hostname: 'web 2&page[size]=1' }),
  },
  { name: 'one server', request: 'GET /servers/id_1', answer: sample.server, call: (api, id) => api.servers.get(id) },
  {
    name: 'virtual machines, with whether they restart and without their credentials',
    request: `GET /virtual_machines?extra_fields%5Bvirtual_machines%5D=pending_restart&stats%5Btotal%5D=count&${page}`,
    answer: [sample.virtualMachine],
    call: (api) => api.virtualMachines.list(),
  },
  {
    name: 'one virtual machine',
    request: 'GET /virtual_machines/id_1',
    answer: sample.virtualMachine,
    call: (api, id) => api.virtualMachines.get(id),
  },
  {
    name: 'a rename of a virtual machine, which sends only its name',
    request: 'PATCH /virtual_machines/id_1',
    data: { type: 'virtual_machines', id: 'id_1', attributes: { name: 'search-2' } },
    answer: sample.virtualMachine,
    call: (api, id) => api.virtualMachines.rename(id, hostileName),
  },
  { name: 'the plans', request: 'GET /plans/virtual_machines', answer: [sample.plan], call: (api) => api.plans.list() },
  { name: 'the baselines', request: 'GET /baselines', answer: [sample.baseline], call: (api) => api.baselines.list() },
  { name: 'the API keys', request: 'GET /auth/api_keys', answer: [sample.apiKey], call: (api) => api.apiKeys.list() },
  {
    name: 'a new API key with a name only',
    request: 'POST /auth/api_keys',
    data: { type: 'api_keys', attributes: { name: 'deploy' } },
    answer: sample.issuedApiKey,
    call: (api) => api.apiKeys.create({ name: 'deploy' }),
  },
  {
    name: 'a new read-only API key with allowed addresses',
    request: 'POST /auth/api_keys',
    data: { type: 'api_keys', attributes: { name: 'deploy', read_only: true, allowed_ips: allowedIps } },
    answer: sample.issuedApiKey,
    call: (api) => api.apiKeys.create({ name: 'deploy', readOnly: true, allowedIps }),
  },
  {
    name: 'a rotation of an API key',
    request: 'PUT /auth/api_keys/id_1',
    data: { type: 'api_keys', id: 'id_1', attributes: { name: 'deploy' } },
    answer: sample.issuedApiKey,
    call: (api, id) => api.apiKeys.rotate(id, 'deploy'),
  },
  {
    name: 'a rename of an API key',
    request: 'PATCH /auth/api_keys/id_1',
    data: { type: 'api_keys', id: 'id_1', attributes: { name: 'deploy' } },
    answer: sample.apiKey,
    call: (api, id) => api.apiKeys.rename(id, 'deploy'),
  },
  { name: 'a deletion of an API key', request: 'DELETE /auth/api_keys/id_1', answer: {}, call: (api, id) => api.apiKeys.delete(id) },
]
