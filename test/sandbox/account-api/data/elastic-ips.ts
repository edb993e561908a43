import { day, idOf } from './ids.ts'
import type { ElasticIpState } from './model.ts'
import { projectId } from './places.ts'
import { serverId } from './servers.ts'

/** The first one is on `web-1` and can be moved to `web-2`. One is announced by BGP, and the account shows no server for it. */
export const elasticIps: ElasticIpState[] = [
  elasticIp('203.0.113.10', 'storefront', 'ASH', 'web-1'),
  elasticIp('203.0.113.11', 'storefront', 'ASH', 'web-3'),
  elasticIp('203.0.113.12', 'storefront', 'ASH', 'edge-ash-1'),
  elasticIp('203.0.113.13', 'storefront', 'ASH', 'edge-ash-1'),
  elasticIp('203.0.113.40', 'storefront', 'FRA', 'edge-fra-1'),
  elasticIp('203.0.113.41', 'storefront', 'FRA', 'edge-fra-2'),
  elasticIp('203.0.113.60', 'storefront', 'TYO', 'edge-tyo-1'),
  elasticIp('2001:db8:40:1::', 'storefront', 'FRA', 'web-fra-1', { family: 'IPv6', prefixLength: 64 }),
  elasticIp('203.0.113.70', 'storefront', 'ASH', null, { id: idOf('ueip', '203.0.113.70'), mode: 'bgp' }),
  elasticIp('203.0.113.80', 'data-platform', 'ASH', 'kafka-1'),
  elasticIp('203.0.113.81', 'data-platform', 'DAL', 'ingest-dal-1'),
  elasticIp('203.0.113.82', 'data-platform', 'DAL', 'warehouse-1'),
  elasticIp('203.0.113.83', 'data-platform', 'DAL', null),
  elasticIp('203.0.113.100', 'internal-tools', 'DAL', 'gitlab-1'),
  elasticIp('203.0.113.101', 'internal-tools', 'DAL', 'vpn-1'),
  elasticIp('203.0.113.102', 'internal-tools', 'DAL', 'runner-1', { status: 'error' }),
  elasticIp('203.0.113.103', 'internal-tools', 'DAL', 'runner-2', { status: 'configuring' }),
  elasticIp('203.0.113.104', 'internal-tools', 'DAL', 'bastion-1', { status: 'releasing' }),
  elasticIp('203.0.113.105', 'internal-tools', 'DAL', null, { status: 'configuring', site: null, provisioning: true }),
]

/** Makes an active Elastic IP. */
export function elasticIp(
  address: string,
  project: string,
  site: string,
  hostname: string | null,
  more: Partial<ElasticIpState> = {},
): ElasticIpState {
  return {
    id: idOf('eip', address),
    address,
    family: 'IPv4',
    prefixLength: 32,
    mode: 'routed',
    status: 'active',
    serverId: hostname === null ? null : serverId(project, hostname),
    projectId: projectId(project),
    site,
    createdAt: day('2026-03-02'),
    ...more,
  }
}
