interface PlanSize {
  name: string
  vcpus: number
  memory: number
  disk: [amount: number, unit: 'gib' | 'tib']
  usdAnHour: number
  gpu?: [name: string, vram: number]
}

const sizes: PlanSize[] = [
  { name: 'vm.tiny', vcpus: 2, memory: 8, disk: [40, 'gib'], usdAnHour: 0.03 },
  { name: 'vm.small', vcpus: 4, memory: 16, disk: [80, 'gib'], usdAnHour: 0.06 },
  { name: 'vm.medium', vcpus: 8, memory: 32, disk: [160, 'gib'], usdAnHour: 0.12 },
  { name: 'vm.large', vcpus: 16, memory: 64, disk: [320, 'gib'], usdAnHour: 0.24 },
  { name: 'vm.xlarge', vcpus: 32, memory: 128, disk: [640, 'gib'], usdAnHour: 0.48 },
  { name: 'vm.2xlarge', vcpus: 48, memory: 192, disk: [1, 'tib'], usdAnHour: 0.72 },
  { name: 'vm.compute.small', vcpus: 8, memory: 16, disk: [80, 'gib'], usdAnHour: 0.11 },
  { name: 'vm.compute.medium', vcpus: 16, memory: 32, disk: [160, 'gib'], usdAnHour: 0.22 },
  { name: 'vm.compute.large', vcpus: 32, memory: 64, disk: [320, 'gib'], usdAnHour: 0.44 },
  { name: 'vm.memory.small', vcpus: 4, memory: 32, disk: [80, 'gib'], usdAnHour: 0.1 },
  { name: 'vm.memory.medium', vcpus: 8, memory: 64, disk: [160, 'gib'], usdAnHour: 0.2 },
  { name: 'vm.memory.large', vcpus: 16, memory: 128, disk: [320, 'gib'], usdAnHour: 0.4 },
  { name: 'vm.storage.small', vcpus: 4, memory: 16, disk: [2, 'tib'], usdAnHour: 0.16 },
  { name: 'vm.storage.large', vcpus: 8, memory: 32, disk: [8, 'tib'], usdAnHour: 0.41 },
  { name: 'vm.dedicated.small', vcpus: 4, memory: 16, disk: [120, 'gib'], usdAnHour: 0.14 },
  { name: 'vm.dedicated.medium', vcpus: 8, memory: 32, disk: [240, 'gib'], usdAnHour: 0.28 },
  { name: 'vm.dedicated.large', vcpus: 16, memory: 64, disk: [480, 'gib'], usdAnHour: 0.56 },
  { name: 'vm.a2.small', vcpus: 8, memory: 48, disk: [200, 'gib'], usdAnHour: 0.62, gpu: ['NVIDIA A2', 16] },
  { name: 'vm.l4.small', vcpus: 8, memory: 64, disk: [250, 'gib'], usdAnHour: 0.81, gpu: ['NVIDIA L4', 24] },
  { name: 'vm.l40s.small', vcpus: 16, memory: 128, disk: [500, 'gib'], usdAnHour: 1.32, gpu: ['NVIDIA L40S', 48] },
  { name: 'vm.l40s.large', vcpus: 32, memory: 256, disk: [1, 'tib'], usdAnHour: 2.58, gpu: ['2 × NVIDIA L40S', 48] },
  { name: 'vm.a100.small', vcpus: 24, memory: 240, disk: [1, 'tib'], usdAnHour: 2.1, gpu: ['NVIDIA A100', 80] },
  { name: 'vm.h100.small', vcpus: 16, memory: 128, disk: [500, 'gib'], usdAnHour: 2.49, gpu: ['NVIDIA H100', 80] },
  { name: 'vm.h100.large', vcpus: 64, memory: 512, disk: [2, 'tib'], usdAnHour: 9.8, gpu: ['4 × NVIDIA H100', 80] },
  { name: 'vm.h200.small', vcpus: 24, memory: 256, disk: [1, 'tib'], usdAnHour: 3.45, gpu: ['NVIDIA H200', 141] },
]

const regions: { name: string; sites: string[]; factor: number }[] = [
  { name: 'United States', sites: ['ASH', 'DAL', 'NYC'], factor: 1 },
  { name: 'Germany', sites: ['FRA'], factor: 1.08 },
  { name: 'Japan', sites: ['TYO2'], factor: 1.2 },
  { name: 'Brazil', sites: ['SAO2'], factor: 1.3 },
]

/** Plans as the wire has them, with the oddities that occur there: counts as strings, null for no GPU. */
export function wirePlans(): unknown[] {
  return sizes.map((size, index) => {
    const offered = size.gpu ? regions.slice(0, 2 + (index % 2)) : regions
    const stocked = (site: string) => (index * 7 + site.charCodeAt(0)) % 4 !== 0
    return {
      id: `plan_${size.name.replaceAll('.', '_')}`,
      type: 'virtual_machine_plans',
      attributes: {
        name: size.name,
        specs: {
          memory: size.memory,
          gpu: size.gpu?.[0] ?? null,
          vram_per_gpu: size.gpu?.[1] ?? null,
          vcpus: size.vcpus,
          vcpu: { count: size.vcpus, clock: 3.1, type: size.name.includes('dedicated') ? 'dedicated' : 'shared' },
          nics: [{ type: '10 Gbps', count: '1' }],
          disk: { type: 'nvme', size: { amount: size.disk[0], unit: size.disk[1] } },
        },
        regions: offered.map((region) => ({
          name: region.name,
          locations: { available: region.sites, in_stock: region.sites.filter(stocked) },
          stock_level: region.sites.some(stocked) ? (index % 3 === 0 ? 'low' : 'high') : 'unavailable',
          pricing: { USD: price(size.usdAnHour * region.factor), EUR: price(size.usdAnHour * region.factor * 0.92) },
        })),
        stock_level: ['low', 'medium', 'high'][index % 3],
        available_operating_systems: [
          'ubuntu_24_04_x64_lts',
          'ubuntu_22_04_x64_lts',
          'debian_12',
          ...(size.gpu ? ['ubuntu24_ml_in_a_box'] : ['rockylinux_9']),
        ],
      },
    }
  })
}

function price(hour: number) {
  const round = (amount: number) => Math.round(amount * 10_000) / 10_000
  return { hour: round(hour), month: round(hour * 730 * 0.9), year: round(hour * 8_760 * 0.8) }
}
