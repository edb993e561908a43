import type { ApiKeyRow, ElasticIpRow, ServerRow, VirtualMachineRow } from './seed.ts'
import type { EventRow } from './world.ts'

/** The shapes of the interface specification, with what the service adds to them. */
export function wireElasticIp(row: ElasticIpRow, server: ServerRow | undefined) {
  return {
    id: row.id,
    type: 'elastic_ips',
    attributes: {
      address: row.address,
      family: 'IPv4',
      prefix_length: 32,
      mode: 'routed',
      status: row.status,
      created_at: row.createdAt,
      server: server
        ? { id: server.id, hostname: server.hostname, primary_ipv4: server.primaryIpv4, operating_system: 'ubuntu_24_04_x64_lts' }
        : null,
      project: row.project,
      region: { id: `region_${row.site.slug.toLowerCase()}`, name: row.site.name, location: row.site },
    },
  }
}

export function wireServer(row: ServerRow) {
  return {
    id: row.id,
    type: 'servers',
    attributes: {
      hostname: row.hostname,
      label: row.label,
      primary_ipv4: row.primaryIpv4,
      status: row.status,
      locked: row.locked,
      region: { city: row.site.name, site: row.site },
      project: row.project,
    },
  }
}

export function wireVirtualMachine(row: VirtualMachineRow) {
  return {
    id: row.id,
    type: 'virtual_machines',
    attributes: {
      name: row.name,
      status: row.status,
      created_at: '2026-04-01T12:00:00+00:00',
      primary_ipv4: row.primaryIpv4,
      operating_system: null,
      site: row.site.slug,
      billing: 'hourly',
      plan: { id: `plan_${row.plan.replaceAll('.', '_')}`, name: row.plan, slug: row.plan.replaceAll('.', '-') },
      specs: { vcpu: 4, ram: '16 GB', storage: '80 GB', nic: '10 Gbps', gpu: '' },
      team: { id: 'team_nimbus', name: 'Nimbus Works', slug: 'nimbus-works', currency: { id: 'cur_usd', code: 'USD', name: 'US dollar' } },
      project: { ...row.project, environment: null },
    },
  }
}

/** The token only in the answer to creation and rotation. */
export function wireApiKey(row: ApiKeyRow, token?: string) {
  return {
    id: row.id,
    type: 'api_keys',
    attributes: {
      name: row.name,
      ...(token === undefined ? {} : { token }),
      token_last_slice: row.token.slice(-5),
      api_version: '2023-06-01',
      read_only: row.readOnly,
      allowed_ips: row.allowedIps,
      created_at: row.createdAt,
      updated_at: row.updatedAt,
      last_used_at: row.lastUsedAt,
      user: row.user,
    },
  }
}

export function wireEvent(row: EventRow) {
  return {
    id: row.id,
    type: 'events',
    attributes: { action: row.action, target: row.target, author: row.author, created_at: row.createdAt },
  }
}
