import type { VirtualMachine } from '../../../src/domain/account.ts'
import { type Documented, sources } from './documented.ts'

const standIn = 'latitudesh/terraform-provider-latitudesh, latitudesh/action_virtual_machine_power_mock_test.go at f386c15c: a stand-in API'

const project = { id: 'proj_6059EqYkOQj8p', name: 'Storefront', slug: 'storefront' }
const plan = { id: 'plan_4m1T5RfYvdM4F', name: 'vm.medium', slug: 'vm-medium' }

const wire = {
  id: 'vm_19o9skue5y1L0',
  type: 'virtual_machines',
  attributes: {
    name: 'search-2',
    status: 'Running',
    created_at: '2026-06-18T09:30:00Z',
    primary_ipv4: '192.0.2.112',
    operating_system: {
      name: 'Ubuntu',
      slug: 'ubuntu_24_04_x64_lts',
      version: '24.04',
      features: { raid: false, ssh_keys: true, user_data: true, rescue: false, workflow: false },
      distro: { name: 'Ubuntu', slug: 'ubuntu', series: 'noble' },
    },
    credentials: { username: 'ubuntu', host: '192.0.2.112', password: 'correct horse battery', ssh_keys: [] },
    site: 'ASH',
    billing: 'hourly',
    user_data: '',
    plan,
    specs: { vcpu: 4, ram: '8 GB', storage: '160 GB', nic: '10 Gbps', gpu: '' },
    tags: [{ id: 'tag_1', name: 'prod', description: '', color: '#ff0000' }],
    team: { id: 'team_1', name: 'Nimbus Works', slug: 'nimbus-works', feature_flags: [], limits: { virtual_machine: 50, elastic_ip: 5 } },
    project: { ...project, environment: 'Production', provisioning_type: 'on_demand', stats: { servers: 8 } },
    pending_restart: false,
  },
}

const reads: VirtualMachine = {
  id: 'vm_19o9skue5y1L0',
  name: 'search-2',
  status: 'Running',
  createdAt: '2026-06-18T09:30:00Z',
  primaryIpv4: '192.0.2.112',
  site: 'ASH',
  billing: 'hourly',
  operatingSystem: { name: 'Ubuntu', slug: 'ubuntu_24_04_x64_lts', version: '24.04' },
  plan,
  specs: { vcpuCount: 4, ram: '8 GB', storage: '160 GB', nic: '10 Gbps', gpu: '' },
  project,
  pendingRestart: false,
}

const nothing: VirtualMachine = {
  id: 'vm_19o9skue5y1L0',
  name: undefined,
  status: undefined,
  createdAt: undefined,
  primaryIpv4: undefined,
  site: undefined,
  billing: undefined,
  operatingSystem: undefined,
  plan: undefined,
  specs: { vcpuCount: undefined, ram: undefined, storage: undefined, nic: undefined, gpu: undefined },
  project: undefined,
  pendingRestart: undefined,
}

export const virtualMachines: Documented<VirtualMachine>[] = [
  { name: 'with every member', source: sources.specification, wire, reads },
  {
    name: 'the answer to a rename, which leaves much out',
    source: sources.specification,
    wire: {
      ...wire,
      attributes: {
        name: 'search-3',
        created_at: '2026-06-18T09:30:00Z',
        status: 'Running',
        operating_system: null,
        plan,
        specs: wire.attributes.specs,
        project: { ...project, environment: null },
      },
    },
    reads: {
      ...nothing,
      name: 'search-3',
      createdAt: '2026-06-18T09:30:00Z',
      status: 'Running',
      plan,
      specs: reads.specs,
      project,
    },
  },
  {
    name: 'the answer to a creation: starting, and a plan without a slug',
    source: sources.januaryExamples,
    wire: {
      ...wire,
      attributes: {
        name: 'search-2',
        created_at: '2026-01-14T15:57:13+00:00',
        status: 'Starting',
        operating_system: null,
        plan: { id: 'plan_VE1Wd3VXOXnZJ', name: 'g3.large' },
        specs: { vcpu: 16, ram: '128 GB', storage: '100 GB', nic: '1 x 1 Gbps', gpu: '1 x L40S' },
        project: { ...project, billing: { subscription_id: null, type: 'Normal', method: 'Normal' } },
      },
    },
    reads: {
      ...nothing,
      name: 'search-2',
      status: 'Starting',
      createdAt: '2026-01-14T15:57:13+00:00',
      plan: { id: 'plan_VE1Wd3VXOXnZJ', name: 'g3.large', slug: undefined },
      specs: { vcpuCount: 16, ram: '128 GB', storage: '100 GB', nic: '1 x 1 Gbps', gpu: '1 x L40S' },
      project,
    },
  },
  {
    name: 'with the newest members, stopped, and about to restart',
    source: sources.fieldsLock,
    wire: { ...wire, attributes: { ...wire.attributes, status: 'Stopped', marketplace_app: null, user_data: null, pending_restart: true } },
    reads: { ...reads, status: 'Stopped', pendingRestart: true },
  },
  {
    name: 'with a name and a status alone',
    source: standIn,
    wire: { id: 'vm_19o9skue5y1L0', type: 'virtual_machines', attributes: { name: 'search-2', status: 'Failed' } },
    reads: { ...nothing, name: 'search-2', status: 'Failed' },
  },
]
