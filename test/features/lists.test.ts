import { expect, test } from 'vitest'
import type { ElasticIp, Server, VirtualMachine } from '../../src/account/objects.ts'
import { ApiError, ApiUnreachableError } from '../../src/domain/errors.ts'
import type { List } from '../../src/domain/list.ts'
import type { Request } from '../../src/domain/request.ts'
import { phrase } from '../../src/domain/text.ts'
import { listElasticIps } from '../../src/features/ip-list.ts'
import { listServers } from '../../src/features/servers.ts'
import { listVirtualMachines } from '../../src/features/vm-list.ts'
import type { OwnAbility } from '../../src/kit/ability.ts'
import { elasticIpFor, serverFor, virtualMachineFor } from '../domain/account-objects.ts'
import { fakeApp } from '../fake-app.ts'
import { requestedAt, requestFor } from '../given/request.ts'
import { expectDocument } from '../messages/documents.ts'
import { wholeList } from '../whole-list.ts'
import { detailsShown, listingOf, shown } from './listing-of.ts'

const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0BEN00001', command: '/infra' }
const place = {
  project: { id: 'proj_1oNqx62cx6bn0', name: 'Storefront', slug: 'storefront' },
  site: { id: 'loc_ash', name: 'Ashburn 74', slug: 'ASH' },
}

const web1 = serverFor({ id: 'sv_1WFgWmkF9Mzju', hostname: 'web-1', primaryIpv4: '192.0.2.11', ...place })
const web10: Server = {
  ...web1,
  id: 'sv_2vGfTqoYmjY5u',
  hostname: 'web-10',
  status: 'off',
  locked: true,
  label: 'do not touch <before> the sale',
}
const nameless: Server = {
  ...web1,
  id: 'sv_37rDaYrmwgNZr',
  hostname: undefined,
  primaryIpv4: undefined,
  status: undefined,
  project: undefined,
  site: undefined,
}

const elasticIp = (address: string, more: Partial<ElasticIp> = {}) =>
  elasticIpFor({ id: `eip_${address}`, address, server: { id: web1.id, hostname: 'web-1' }, ...place, ...more })
const some = [elasticIp('203.0.113.11', { status: 'moving' }), elasticIp('203.0.113.2'), elasticIp('203.0.113.3', { server: undefined })]
const twelve = Array.from({ length: 12 }, (_, index) => elasticIp(`203.0.113.${index + 1}`))
const pending = elasticIp('203.0.113.12', { status: 'pending', server: undefined, site: undefined })
const bgp = elasticIp('203.0.113.13', { id: 'ueip_v9BVDaGvdRm1W', server: undefined })

const moveOf203 = requestFor({ id: '1a2b'.repeat(8), input: { elasticIpId: 'eip_203.0.113.2', serverId: web10.id }, facts: {} })

const cache = virtualMachineFor({
  name: 'cache-1',
  createdAt: '2026-11-20T12:00:00Z',
  primaryIpv4: '192.0.2.114',
  site: 'FRA',
  operatingSystem: { name: 'Ubuntu', slug: 'ubuntu_24_04_x64_lts', version: '24.04' },
  plan: { id: 'plan_1', name: 'vm.small', slug: 'vm-small' },
})
const restarting: VirtualMachine = { ...cache, id: 'vm_8265Xp57xmWdK', name: 'cache-10', status: 'Stopped', pendingRestart: true }
const unknown: VirtualMachine = {
  ...cache,
  id: 'vm_9265Xp57xmWdK',
  name: undefined,
  status: undefined,
  createdAt: undefined,
  primaryIpv4: undefined,
  site: undefined,
  plan: undefined,
  project: undefined,
  operatingSystem: undefined,
  specs: { vcpuCount: undefined, ram: undefined, storage: undefined, gpu: undefined },
}

interface Account {
  servers?: Server[]
  elasticIps?: ElasticIp[] | List<ElasticIp> | Error
  virtualMachines?: VirtualMachine[]
  open?: Request[] | Error
}

const linkTo = () => 'https://nimbus.slack.com/archives/C0OPS00001/p1'

/** What lists need besides the account: the open requests, counting the reads of them. */
function besides(open: Request[] | Error, reads: string[] = []) {
  const findOpen = async () => {
    reads.push('open')
    if (open instanceof Error) throw open
    return { requests: open, unreadable: 0 }
  }
  const done = requestFor({ state: 'done', endedAt: requestedAt, facts: {} })
  const lastChangesOf = async (resources: string[]) =>
    new Map(resources.flatMap((each) => (each === 'elastic_ip:eip_203.0.113.2' ? [[each, done]] : [])))
  const catalog = { titleOf: () => phrase`Move ${'203.0.113.2'} → ${'web-10'}` }
  return {
    store: { findOpen, lastChangesOf, ended: async () => [] },
    catalog,
    signatures: { verifyRecord: () => 'genuine' as const },
    slack: { identity: { linkTo } },
  }
}

function list(feature: OwnAbility, { servers = [], elasticIps = [], virtualMachines = [], open = [] }: Account, ...words: string[]) {
  const lists = {
    servers: async () => wholeList(servers),
    elasticIps: async () => {
      if (elasticIps instanceof Error) throw elasticIps
      return Array.isArray(elasticIps) ? wholeList(elasticIps) : elasticIps
    },
    virtualMachines: async () => wholeList(virtualMachines),
  }
  return listingOf(feature.create(fakeApp({ lists, ...besides(open) })).commands[0], words)
}

function detailsOf(feature: OwnAbility, kind: string, item: { id: string } | ApiError, elasticIps: ElasticIp[] = []) {
  const get = async () => (item instanceof ApiError ? Promise.reject(item) : item) as never
  const account = { servers: { get }, elasticIps: { get }, virtualMachines: { get } }
  const app = fakeApp({ account, lists: { elasticIps: async () => wholeList(elasticIps) }, ...besides([moveOf203]) })
  return feature.create(app).details?.[kind]?.('id' in item ? item.id : 'gone', origin)
}

test('lists and details as people see them', async () => {
  const cut = { items: [elasticIp('203.0.113.2')], isWhole: false, cut: 'size' as const }
  const away = new ApiUnreachableError({ operation: 'elasticIps.list', requestSent: 'no', problem: 'ECONNREFUSED' })
  const noFeature = new ApiError({ operation: 'elasticIps.list', status: 403, codes: ['FEATURE_NOT_ENABLED'] })
  const otherProject = { ...web10, id: 'sv_3other', hostname: 'web-1', project: { id: 'proj_2', name: 'Data platform', slug: 'data' } }
  const onWeb10 = twelve.map((one) => ({ ...one, server: { id: web10.id, hostname: 'web-10' } }))

  await expectDocument('lists.md', 'Lists of the account, and the details of their items', [
    ['Elastic IPs', shown(await list(listElasticIps, { elasticIps: [bgp, pending, ...some] }))],
    ['Elastic IPs: one with an open request', shown(await list(listElasticIps, { elasticIps: some, open: [moveOf203] }))],
    ['Elastic IPs: without Redis', shown(await list(listElasticIps, { elasticIps: some, open: new Error('away') }))],
    ['Elastic IPs: none', shown(await list(listElasticIps, {}))],
    ['Elastic IPs: no match', shown(await list(listElasticIps, { elasticIps: [pending, ...some] }, 'dallas'))],
    ['An Elastic IP', detailsShown(await detailsOf(listElasticIps, 'elastic-ip', elasticIp('203.0.113.2')))],
    ['An Elastic IP with BGP', detailsShown(await detailsOf(listElasticIps, 'elastic-ip', bgp))],
    ['Servers', shown(await list(listServers, { servers: [web10, nameless, web1], elasticIps: some }))],
    [
      'Servers of one name',
      shown(await list(listServers, { servers: [web1, { ...web10, hostname: 'web-1', label: undefined }, otherProject] })),
    ],
    ['Servers: the team has no Elastic IPs', shown(await list(listServers, { servers: [web1], elasticIps: noFeature }))],
    ['Servers: Elastic IPs not read', shown(await list(listServers, { servers: [web1], elasticIps: away }))],
    ['Servers: not all Elastic IPs read', shown(await list(listServers, { servers: [web1], elasticIps: cut }))],
    ['Servers: none', shown(await list(listServers, {}))],
    ['Servers: no match', shown(await list(listServers, { servers: [web1, web10] }, 'dallas'))],
    ['A server', detailsShown(await detailsOf(listServers, 'server', web10, [...onWeb10, elasticIp('203.0.113.99')]))],
    ['A server that is on, without Elastic IPs', detailsShown(await detailsOf(listServers, 'server', web1))],
    ['Virtual machines', shown(await list(listVirtualMachines, { virtualMachines: [restarting, unknown, cache] }))],
    ['Virtual machines: none', shown(await list(listVirtualMachines, {}))],
    ['Virtual machines: no match', shown(await list(listVirtualMachines, { virtualMachines: [cache] }, 'tyo'))],
    ['A virtual machine', detailsShown(await detailsOf(listVirtualMachines, 'virtual-machine', cache))],
    ['A virtual machine of which little is known', detailsShown(await detailsOf(listVirtualMachines, 'virtual-machine', unknown))],
  ])
})

test.each<[feature: OwnAbility, words: string[], found: string[]]>([
  [listElasticIps, ['pending'], ['203.0.113.12']],
  [listElasticIps, ['bgp'], ['203.0.113.13']],
  [listElasticIps, ['ashburn', 'web-1'], ['203.0.113.11', '203.0.113.2']],
  [listServers, ['off'], ['web-10']],
  [listServers, ['LOCKED', 'ash'], ['web-10']],
  [listServers, ['storefront'], ['web-1', 'web-10']],
  [listServers, ['203.0.113.2'], ['web-1']],
  [listServers, ['eip_203.0.113.11'], ['web-1']],
  [listServers, ['192.0.2.11', 'on'], ['web-1', 'web-10']],
  [listServers, ['sale'], ['web-10']],
  [listServers, ['203.0.113.3'], []],
  [listVirtualMachines, ['stopped'], ['cache-10']],
  [listVirtualMachines, ['fra', 'vm.small'], ['cache-1', 'cache-10']],
  [listVirtualMachines, ['ubuntu', 'running'], ['cache-1']],
  [listVirtualMachines, ['restart'], ['cache-10']],
  [listVirtualMachines, ['vm_7265Xp57xmWdK'], ['cache-1']],
])('words find things: %#', async (feature, words, found) => {
  const account = { servers: [web1, web10], elasticIps: [bgp, pending, ...some], virtualMachines: [cache, restarting] }
  const { rows } = await list(feature, account, ...words)
  expect(rows.map(({ text }) => /\*`?([^`*]*)/.exec(text)?.[1])).toEqual(found)
})

test('the first columns are those that decide, because a phone shows no more', async () => {
  expect((await list(listElasticIps, { elasticIps: some })).table?.headers.slice(0, 2)).toEqual(['Address', 'Server'])
})

test('Elastic IPs that are not active come before the others, which may be on later pages', async () => {
  const { rows } = await list(listElasticIps, { elasticIps: [...twelve, elasticIp('203.0.113.99', { status: 'error' })] })
  expect(rows.slice(0, 3).map(({ text }) => /\*`([^`]+)/.exec(text)?.[1])).toEqual(['203.0.113.99', '203.0.113.1', '203.0.113.2'])
})

test('an Elastic IP that cannot be moved has no button', async () => {
  const isFixed = async (one: ElasticIp) => (await detailsOf(listElasticIps, 'elastic-ip', one))?.isFixed
  expect([await isFixed(elasticIp('203.0.113.2')), await isFixed(bgp), await isFixed(pending)]).toEqual([undefined, true, true])
})

test('a server has no button to evacuate it if it is on and has no Elastic IPs: one that is off may have some that are not shown', async () => {
  const isFixed = async (one: Server, its: ElasticIp[] = []) => (await detailsOf(listServers, 'server', one, its))?.isFixed
  expect([await isFixed(web1), await isFixed(web1, some), await isFixed(web10)]).toEqual([true, undefined, undefined])
})

test('the open requests are read once for all rows', async () => {
  const reads: string[] = []
  const app = fakeApp({ lists: { elasticIps: async () => wholeList(twelve) }, ...besides([moveOf203], reads) })
  await listingOf(listElasticIps.create(app).commands[0])
  expect(reads).toEqual(['open'])
})

test('what is gone has no details, and an error of the account API or of Lockkeeper is thrown', async () => {
  const error = (status: number) => new ApiError({ operation: 'servers.get', status, codes: [] })
  expect(await detailsOf(listServers, 'server', error(404))).toBeUndefined()
  await expect(detailsOf(listServers, 'server', error(500))).rejects.toThrow(ApiError)
  await expect(list(listServers, { servers: [web1], elasticIps: new TypeError('broken') })).rejects.toThrow('broken')
})
