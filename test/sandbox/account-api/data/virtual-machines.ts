import { day, idOf } from './ids.ts'
import type { VirtualMachineState } from './model.ts'
import { projectId } from './places.ts'

const ubuntu = { name: 'Ubuntu', slug: 'ubuntu_24_04_x64_lts', version: '24.04' }
const debian = { name: 'Debian', slug: 'debian_12', version: '12' }

const small = { plan: 'vm.small', specs: { vcpu: 2, ram: '4 GB', storage: '80 GB', nic: '10 Gbps', gpu: null } }
const medium = { plan: 'vm.medium', specs: { vcpu: 4, ram: '8 GB', storage: '160 GB', nic: '10 Gbps', gpu: null } }
const gpu = { plan: 'gpu.l40s.1', specs: { vcpu: 16, ram: '64 GB', storage: '500 GB', nic: '25 Gbps', gpu: 'NVIDIA L40S' } }

/** `search-1` exists twice on purpose: names need not be unique. */
export const virtualMachines: VirtualMachineState[] = [
  machine('preview-1', 'storefront', 'ASH', '192.0.2.110', small),
  machine('preview-2', 'storefront', 'ASH', '192.0.2.111', small),
  machine('search-1', 'storefront', 'ASH', '192.0.2.112', medium),
  machine('search-fra-1', 'storefront', 'FRA', '192.0.2.113', medium),
  machine('cache-tyo-1', 'storefront', 'TYO', '192.0.2.114', medium, { status: 'Stopped' }),
  machine('notebook-ana', 'data-platform', 'DAL', '192.0.2.120', gpu),
  machine('notebook-li', 'data-platform', 'DAL', '192.0.2.121', gpu, { status: 'Stopped' }),
  machine('airflow-1', 'data-platform', 'DAL', '192.0.2.122', medium, { operatingSystem: debian }),
  machine('superset-1', 'data-platform', 'ASH', '192.0.2.123', medium, { operatingSystem: debian }),
  machine('search-1', 'data-platform', 'ASH', '192.0.2.124', medium, { id: idOf('vm', 'data-platform/search-1') }),
  machine('grafana-1', 'internal-tools', 'DAL', '192.0.2.130', small, { operatingSystem: debian }),
  machine('vault-1', 'internal-tools', 'DAL', '192.0.2.131', small, { billing: 'monthly' }),
  machine('wiki-1', 'internal-tools', 'DAL', '192.0.2.132', small, { operatingSystem: null }),
  machine('status-page-1', 'internal-tools', 'FRA', '192.0.2.133', small, { status: 'Deploying' }),
]

function machine(
  name: string,
  project: string,
  site: string,
  primaryIpv4: string,
  { plan, specs }: { plan: string; specs: VirtualMachineState['specs'] },
  more: Partial<VirtualMachineState> = {},
): VirtualMachineState {
  return {
    id: idOf('vm', name),
    name,
    status: 'Running',
    primaryIpv4,
    operatingSystem: ubuntu,
    site,
    billing: 'hourly',
    plan: { id: idOf('plan', plan), name: plan, slug: plan.replaceAll('.', '-') },
    specs,
    projectId: projectId(project),
    createdAt: day('2026-06-18'),
    ...more,
  }
}
