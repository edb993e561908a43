import { idOf } from './ids.ts'
import type { FixedResource } from './model.ts'

interface Gpu {
  name: string
  vramPerGpu: number
}

const l40s: Gpu = { name: 'NVIDIA L40S', vramPerGpu: 48 }
const h100: Gpu = { name: 'NVIDIA H100', vramPerGpu: 80 }
const rtx: Gpu = { name: 'NVIDIA RTX 6000 Pro', vramPerGpu: 96 }
const linux = ['ubuntu_24_04_x64_lts', 'ubuntu_22_04_x64_lts', 'debian_12', 'rocky_9', 'almalinux_9']
const everything = [...linux, 'windows_server_2022_std_v1', 'flatcar_stable']
const gpuSystems = ['ubuntu_24_04_x64_lts', 'ubuntu24_ml_in_a_box']

const countries: Record<string, { sites: string[]; factor: number }> = {
  'United States': { sites: ['ASH', 'DAL'], factor: 1 },
  Germany: { sites: ['FRA'], factor: 1.08 },
  Japan: { sites: ['TYO'], factor: 1.22 },
  Brazil: { sites: ['SAO'], factor: 1.35 },
}

/** `stock` lists the sites with stock. */
export const plans: FixedResource[] = [
  plan('vm.nano', 1, 1, 20, 0.007, 'ASH DAL FRA TYO SAO'),
  plan('vm.tiny', 1, 2, 40, 0.014, 'ASH DAL FRA TYO SAO'),
  plan('vm.small', 2, 4, 80, 0.027, 'ASH DAL FRA TYO'),
  plan('vm.medium', 4, 8, 160, 0.054, 'ASH DAL FRA TYO SAO'),
  plan('vm.large', 8, 16, 320, 0.107, 'ASH FRA'),
  plan('vm.xlarge', 16, 32, 640, 0.214, 'DAL FRA'),
  plan('vm.2xlarge', 24, 64, 960, 0.41, 'ASH'),
  plan('vm.4xlarge', 32, 128, 1280, 0.79, ''),
  plan('cpu.small', 4, 8, 100, 0.083, 'ASH DAL FRA', { vcpuType: 'dedicated', clock: 4.1 }),
  plan('cpu.medium', 8, 16, 200, 0.166, 'ASH DAL FRA TYO', { vcpuType: 'dedicated', clock: 4.1 }),
  plan('cpu.large', 16, 32, 400, 0.331, 'ASH', { vcpuType: 'dedicated', clock: 4.1 }),
  plan('cpu.xlarge', 32, 64, 800, 0.66, 'FRA TYO', { vcpuType: 'dedicated', clock: 4.1 }),
  plan('cpu.metal-edge', 48, 96, 1200, 0.97, '', { vcpuType: 'dedicated', clock: 4.4 }),
  plan('mem.small', 4, 32, 100, 0.124, 'ASH DAL FRA'),
  plan('mem.medium', 8, 64, 200, 0.248, 'ASH FRA TYO'),
  plan('mem.large', 16, 128, 400, 0.49, 'DAL'),
  plan('mem.xlarge', 32, 256, 800, 0.97, 'ASH SAO'),
  plan('store.medium', 8, 32, 4, 0.31, 'ASH DAL FRA', { unit: 'tib', nics: 2 }),
  plan('store.large', 16, 64, 8, 0.61, 'DAL', { unit: 'tib', nics: 2 }),
  plan('gpu.l40s.1', 16, 64, 500, 1.11, 'ASH DAL', { gpu: l40s, systems: gpuSystems }),
  plan('gpu.l40s.2', 32, 128, 1000, 2.2, 'DAL FRA', { gpu: l40s, systems: gpuSystems }),
  plan('gpu.rtx6000.1', 16, 96, 500, 1.62, 'ASH TYO', { gpu: rtx, systems: gpuSystems }),
  plan('gpu.h100.1', 24, 192, 1000, 2.49, 'DAL', { gpu: h100, systems: gpuSystems }),
  plan('gpu.h100.4', 96, 768, 4, 9.9, '', { gpu: h100, systems: gpuSystems, unit: 'tib', nics: 2 }),
  plan('win.medium', 4, 16, 160, 0.139, 'ASH DAL FRA', { systems: ['windows_server_2022_std_v1', 'windows_server_2025_std_v1'] }),
]

interface More {
  vcpuType?: string
  clock?: number
  gpu?: Gpu
  unit?: 'gib' | 'tib'
  nics?: number
  systems?: string[]
}

function plan(
  name: string,
  vcpus: number,
  memory: number,
  disk: number,
  usdPerHour: number,
  stock: string,
  more: More = {},
): FixedResource {
  const inStock = stock.split(' ').filter((site) => site !== '')
  return {
    id: idOf('plan', name),
    type: 'virtual_machine_plans',
    attributes: {
      name,
      specs: {
        memory,
        gpu: more.gpu?.name ?? null,
        vram_per_gpu: more.gpu?.vramPerGpu ?? null,
        vcpus,
        vcpu: { count: vcpus, clock: more.clock ?? 2.9, type: more.vcpuType ?? 'shared' },
        // The real account API sends some counts as strings.
        nics: [{ type: more.gpu ? '25 Gbps' : '10 Gbps', count: more.nics ?? '1' }],
        disk: { type: 'nvme', size: { amount: disk, unit: more.unit ?? 'gib' } },
      },
      regions: Object.entries(countries).map(([country, { sites, factor }]) => {
        const here = sites.filter((site) => inStock.includes(site))
        return {
          name: country,
          locations: { available: sites, in_stock: here },
          stock_level: stockLevel(here.length, sites.length),
          pricing: { USD: prices(usdPerHour * factor), EUR: prices(usdPerHour * factor * 0.92) },
        }
      }),
      stock_level: stockLevel(inStock.length, 5),
      available_operating_systems: more.systems ?? (memory >= 4 ? everything : linux),
    },
  }
}

function stockLevel(some: number, all: number): string {
  if (some === 0) return 'unavailable'
  if (some === all) return 'high'
  return some * 2 >= all ? 'medium' : 'low'
}

function prices(hour: number) {
  const round = (value: number, digits: number) => Number(value.toFixed(digits))
  return { hour: round(hour, 4), month: round(hour * 730, 2), year: round(hour * 730 * 12 * 0.9, 2) }
}
