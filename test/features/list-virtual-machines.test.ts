import { describe, expect, test } from 'vitest'
import type { VirtualMachine } from '../../src/domain/virtual-machine.ts'
import { listVirtualMachines } from '../../src/features/list-virtual-machines/index.ts'
import { listingOf } from './listing-of.ts'

const cache: VirtualMachine = {
  id: 'vm_7265Xp57xmWdK',
  name: 'cache-1',
  status: 'Running',
  createdAt: undefined,
  primaryIpv4: '192.0.2.114',
  site: 'FRA',
  billing: undefined,
  operatingSystem: { name: 'Ubuntu', slug: 'ubuntu_24_04_x64_lts', version: '24.04' },
  plan: { id: 'plan_1', name: 'vm.small', slug: 'vm-small' },
  specs: { vcpuCount: 2, ram: '4 GB', storage: undefined, nic: undefined, gpu: undefined },
  project: { id: 'proj_1oNqx62cx6bn0', name: 'Storefront', slug: 'storefront' },
  pendingRestart: false,
}
const waiting: VirtualMachine = { ...cache, id: 'vm_8265Xp57xmWdK', name: 'cache-10', status: 'Stopped', pendingRestart: true }
const bare: VirtualMachine = {
  ...cache,
  id: 'vm_9265Xp57xmWdK',
  name: undefined,
  status: undefined,
  primaryIpv4: undefined,
  site: undefined,
  plan: undefined,
  project: undefined,
  operatingSystem: undefined,
}

function list(words: string[], machines: VirtualMachine[]) {
  const accountApi = { virtualMachines: { list: async () => machines } }
  return listingOf(listVirtualMachines.create({ accountApi: accountApi as never }).commands[0], words)
}

describe('the list of virtual machines', () => {
  test('shows status, project, site, plan and address, in the order of the names', async () => {
    const { title, rows } = await list([], [waiting, bare, cache])
    expect([title, ...rows].map(String)).toMatchInlineSnapshot(`
      [
        "3 virtual machines",
        "*\`cache-1\`*  ·  Running  ·  Storefront  ·  FRA  ·  vm.small  ·  \`192.0.2.114\`  ·  \`vm_7265Xp57xmWdK\`",
        "*\`cache-10\`*  ·  Stopped, restart pending  ·  Storefront  ·  FRA  ·  vm.small  ·  \`192.0.2.114\`  ·  \`vm_8265Xp57xmWdK\`",
        "*\`vm_9265Xp57xmWdK\`*  ·  status unknown  ·  \`vm_9265Xp57xmWdK\`",
      ]
    `)
  })

  test.each<[words: string[], found: string[]]>([
    [['stopped'], ['cache-10']],
    [
      ['fra', 'vm.small'],
      ['cache-1', 'cache-10'],
    ],
    [['ubuntu', 'running'], ['cache-1']],
    [['restart'], ['cache-10']],
    [['vm_7265Xp57xmWdK'], ['cache-1']],
    [['tyo'], []],
  ])('finds virtual machines by %j', async (words, found) => {
    const { rows } = await list(words, [cache, waiting])
    expect(rows.map(({ text }) => /`(.*?)`/.exec(text)?.[1])).toEqual(found)
  })

  test('says that there are none, or that none fits', async () => {
    expect(String((await list([], [])).empty)).toBe('The account has no virtual machines.')
    expect(String((await list(['tyo'], [cache])).empty)).toBe('None of the 1 virtual machines fits. Use fewer words.')
  })
})
