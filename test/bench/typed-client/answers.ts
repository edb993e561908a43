import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * An account API with prepared answers: 1,000 Elastic IPs in pages of 100, and 500 plans, each with every field of the interface
 * specification. The answers are made once, so that this process takes hardly any time.
 */
const pages = Array.from({ length: 10 }, (_, page) => Array.from({ length: 100 }, (__, index) => elasticIp(page * 100 + index)))
const plans = Array.from({ length: 500 }, (_, index) => plan(index))
const text = (data: unknown[]) => Buffer.from(JSON.stringify({ data, meta: {} }))
const answers = { pages: pages.map(text), empty: text([]), plans: text(plans) }

function elasticIp(index: number) {
  return {
    id: `eip_${String(index).padStart(10, '0')}`,
    type: 'elastic_ips',
    attributes: {
      address: `203.0.${Math.floor(index / 250)}.${(index % 250) + 1}`,
      family: 'IPv4',
      prefix_length: 32,
      mode: 'routed',
      status: 'moving',
      created_at: '2026-03-02T09:30:00Z',
      server: { id: 'sv_81q8LGGQnFEm5', hostname: 'web-2', primary_ipv4: '198.51.100.22', operating_system: 'ubuntu_24_04_x64_lts' },
      project: { id: 'proj_1oNqx62cx6bn0', name: 'Storefront', slug: 'storefront' },
      region: { id: 'reg_usnDPAAF373Hs', name: 'United States', location: { id: 'site_ash', name: 'Ashburn', slug: 'ASH' } },
    },
  }
}

function plan(index: number) {
  return {
    id: `plan_${String(index).padStart(10, '0')}`,
    type: 'virtual_machine_plans',
    attributes: {
      name: `vm.${index}`,
      specs: {
        memory: 8,
        gpu: 'NVIDIA L40S',
        vram_per_gpu: 48,
        vcpus: 4,
        vcpu: { count: 4, clock: 2.9, type: 'shared' },
        nics: [{ type: '10 Gbps', count: '1' }],
        disk: { type: 'nvme', size: { amount: 160, unit: 'gib' } },
      },
      regions: ['United States', 'Germany', 'Japan', 'Brazil'].map((name) => ({
        name,
        locations: { available: ['ASH', 'DAL'], in_stock: ['ASH'] },
        stock_level: 'low',
        pricing: { USD: { hour: 0.054, month: 39.42, year: 425.74 }, EUR: { hour: 0.05, month: 36.5, year: 394.2 } },
      })),
      stock_level: 'low',
      available_operating_systems: [
        'ubuntu_24_04_x64_lts',
        'ubuntu_22_04_x64_lts',
        'debian_12',
        'rocky_9',
        'almalinux_9',
        'flatcar_stable',
      ],
    },
  }
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://answers')
  const page = answers.pages[Number(searchParams.get('page[number]')) - 1] ?? answers.empty
  const body = pathname === '/plans/virtual_machines' ? answers.plans : page
  response.writeHead(200, { 'content-type': 'application/vnd.api+json', 'content-length': body.length }).end(body)
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  const kb = { page: answers.pages[0]?.length, plans: answers.plans.length }
  console.log(JSON.stringify({ port, ...kb }))
})
