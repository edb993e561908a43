import type { Plan } from '../../../src/domain/account.ts'
import { type Documented, sources } from './documented.ts'

const recorded =
  'latitudesh/terraform-provider-latitudesh, latitudesh/vm_plan_discovery_test.go at e89af8b9: an answer of the API, recorded on 27 July 2026'

export const plans: Documented<Plan>[] = [
  {
    name: 'with a graphics card',
    source: sources.specification,
    wire: {
      id: 'plan_4m1T5RfYvdM4F',
      type: 'virtual_machine_plans',
      attributes: {
        name: 'vm.l40s',
        specs: {
          memory: 64,
          gpu: 'NVIDIA L40S',
          vram_per_gpu: 48,
          vcpus: 16,
          vcpu: { count: 16, clock: 2.9, type: 'shared' },
          nics: [{ type: '10 Gbps', count: 1 }],
          disk: { type: 'nvme', size: { amount: 1.5, unit: 'tib' } },
        },
        regions: [
          {
            name: 'United States',
            locations: { available: ['ASH', 'DAL'], in_stock: ['ASH'] },
            stock_level: 'low',
            pricing: { USD: { hour: 1.25, month: 720, year: 8_640 } },
          },
        ],
        stock_level: 'low',
        available_operating_systems: ['ubuntu_24_04_x64_lts'],
      },
    },
    reads: {
      id: 'plan_4m1T5RfYvdM4F',
      name: 'vm.l40s',
      specs: { vcpuCount: 16, memory: 64, gpu: 'NVIDIA L40S', vramPerGpu: 48, disk: { type: 'nvme', amount: 1.5, unit: 'tib' } },
      regions: [
        {
          name: 'United States',
          availableSites: ['ASH', 'DAL'],
          inStockSites: ['ASH'],
          prices: [{ currency: 'USD', hour: 1.25, month: 720 }],
        },
      ],
      stockLevel: 'low',
      operatingSystems: ['ubuntu_24_04_x64_lts'],
    },
  },
  {
    name: 'as the API has answered: null where there is no graphics card, and a blank after the type of the disk',
    source: recorded,
    wire: {
      id: 'plan_jv6m5J18NLPeE',
      type: 'virtual_machine_plans',
      attributes: {
        name: 'vm.large',
        slug: 'vm-large',
        specs: {
          memory: 64,
          gpu: null,
          vram_per_gpu: null,
          vcpus: 16,
          vcpu: { count: 16, clock: null, type: null },
          nics: [{ type: '10 Gbps', count: 1 }],
          disk: { type: 'local ', size: { amount: 640, unit: 'gib' } },
        },
        regions: [
          {
            name: 'United States',
            locations: { available: ['DAL', 'ASH'], in_stock: ['DAL'] },
            stock_level: 'high',
            pricing: { USD: { hour: 0.5, month: 240.0, year: 2_000.0 }, BRL: { hour: 2.5, month: 1_200.0, year: 10_000.0 } },
          },
        ],
        stock_level: 'high',
        available_operating_systems: ['ubuntu_24_04_x64_lts'],
      },
    },
    reads: {
      id: 'plan_jv6m5J18NLPeE',
      name: 'vm.large',
      specs: { vcpuCount: 16, memory: 64, gpu: undefined, vramPerGpu: undefined, disk: { type: 'local ', amount: 640, unit: 'gib' } },
      regions: [
        {
          name: 'United States',
          availableSites: ['DAL', 'ASH'],
          inStockSites: ['DAL'],
          prices: [
            { currency: 'USD', hour: 0.5, month: 240 },
            { currency: 'BRL', hour: 2.5, month: 1_200 },
          ],
        },
      ],
      stockLevel: 'high',
      operatingSystems: ['ubuntu_24_04_x64_lts'],
    },
  },
  {
    name: 'of an older shape: sites without stock, directly in the region',
    source: sources.januaryExamples,
    wire: {
      id: 'plan_aNmodj4eDbE8W',
      type: 'virtual_machine_plans',
      attributes: {
        name: 'vm.tiny',
        specs: { memory: 16, vcpus: 14, disk: { type: 'local', size: { amount: 150, unit: 'gib' } } },
        regions: [{ name: 'United States', available: ['DAL'], pricing: { USD: { hour: 1, month: 720, year: 8_640 } } }],
        stock_level: 'low',
      },
    },
    reads: {
      id: 'plan_aNmodj4eDbE8W',
      name: 'vm.tiny',
      specs: { vcpuCount: 14, memory: 16, gpu: undefined, vramPerGpu: undefined, disk: { type: 'local', amount: 150, unit: 'gib' } },
      regions: [{ name: 'United States', availableSites: ['DAL'], inStockSites: [], prices: [{ currency: 'USD', hour: 1, month: 720 }] }],
      stockLevel: 'low',
      operatingSystems: [],
    },
  },
]
