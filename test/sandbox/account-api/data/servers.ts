import { day, idOf } from './ids.ts'
import type { ServerState } from './model.ts'
import { projectId } from './places.ts'

const ubuntu = 'ubuntu_24_04_x64_lts'

/** `bastion-1` exists twice on purpose: hostnames are unique only within a project. */
export const servers: ServerState[] = [
  server('storefront', 'ASH', 'web-1', '198.51.100.21'),
  server('storefront', 'ASH', 'web-2', '198.51.100.22'),
  server('storefront', 'ASH', 'web-3', '198.51.100.23'),
  server('storefront', 'ASH', 'edge-ash-1', '198.51.100.31'),
  server('storefront', 'ASH', 'edge-ash-2', '198.51.100.32', { scheduledDeletionAt: day('2027-01-15') }),
  server('storefront', 'ASH', 'orders-db-1', '198.51.100.41', { locked: true, label: 'do not touch before the sale' }),
  server('storefront', 'ASH', 'legacy-cart-1', '198.51.100.49', { networkIncompatible: true, operatingSystem: 'centos_7_9_x64' }),
  server('storefront', 'ASH', 'bastion-1', '198.51.100.50'),
  server('storefront', 'FRA', 'edge-fra-1', '198.51.100.61'),
  server('storefront', 'FRA', 'edge-fra-2', '198.51.100.62'),
  server('storefront', 'FRA', 'web-fra-1', '198.51.100.63'),
  server('storefront', 'TYO', 'edge-tyo-1', '198.51.100.71'),
  server('storefront', 'TYO', 'edge-tyo-2', '198.51.100.72', { status: 'deploying' }),
  server('storefront', 'SAO', 'edge-sao-1', '198.51.100.81'),
  server('data-platform', 'ASH', 'kafka-1', '192.0.2.21', { operatingSystem: 'debian_12' }),
  server('data-platform', 'ASH', 'kafka-2', '192.0.2.22', { operatingSystem: 'debian_12' }),
  server('data-platform', 'ASH', 'kafka-3', '192.0.2.23', { operatingSystem: 'debian_12', status: 'off' }),
  server('data-platform', 'DAL', 'ingest-dal-1', '192.0.2.31'),
  server('data-platform', 'DAL', 'ingest-dal-2', '192.0.2.32'),
  server('data-platform', 'DAL', 'warehouse-1', '192.0.2.41', { operatingSystem: 'rocky_9' }),
  server('data-platform', 'DAL', 'warehouse-2', '192.0.2.42', { operatingSystem: 'rocky_9', locked: true }),
  server('internal-tools', 'DAL', 'gitlab-1', '192.0.2.61'),
  server('internal-tools', 'DAL', 'runner-1', '192.0.2.71'),
  server('internal-tools', 'DAL', 'runner-2', '192.0.2.72'),
  server('internal-tools', 'DAL', 'vpn-1', '192.0.2.81', { operatingSystem: 'debian_12' }),
  server('internal-tools', 'DAL', 'bastion-1', '192.0.2.90', { operatingSystem: 'debian_12' }),
]

export function serverId(project: string, hostname: string): string {
  return idOf('sv', `${project}/${hostname}`)
}

function server(project: string, site: string, hostname: string, primaryIpv4: string, more: Partial<ServerState> = {}): ServerState {
  return {
    id: serverId(project, hostname),
    hostname,
    label: null,
    primaryIpv4,
    status: 'on',
    locked: false,
    operatingSystem: ubuntu,
    projectId: projectId(project),
    site,
    networkIncompatible: false,
    ...more,
  }
}
