import { describe, expect, test } from 'vitest'
import type { VirtualMachine } from '../../src/domain/account.ts'
import { ApiError } from '../../src/domain/errors.ts'
import { listVirtualMachines } from '../../src/features/vm-list.ts'
import { fakeApp } from '../fake-app.ts'
import { listingOf } from './listing-of.ts'

const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0BEN00001', command: '/infra' }

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
  const all = { virtualMachines: async () => machines }
  return listingOf(listVirtualMachines.create(fakeApp({ lists: all })).commands[0], words)
}

describe('the list of virtual machines', () => {
  test('shows status, project, site, plan and address, in the order of the names', async () => {
    const { title, rows, table } = await list([], [waiting, bare, cache])
    expect(table?.rows.map((row) => row.map(String))).toMatchInlineSnapshot(`
      [
        [
          "\`cache-1\`",
          "Running",
          "FRA",
          "Storefront",
          "vm.small",
          "\`192.0.2.114\`",
        ],
        [
          "\`cache-10\`",
          "Stopped, restart pending",
          "FRA",
          "Storefront",
          "vm.small",
          "\`192.0.2.114\`",
        ],
        [
          "\`vm_9265Xp57xmWdK\`",
          "undefined",
          "undefined",
          "undefined",
          "undefined",
          "undefined",
        ],
      ]
    `)
    expect([title, ...rows].map(String)).toMatchInlineSnapshot(`
      [
        "3 virtual machines",
        "*\`cache-1\`*  ·  Running  ·  FRA  ·  Storefront
      vm.small  ·  \`192.0.2.114\`",
        "*\`cache-10\`*  ·  Stopped, restart pending  ·  FRA  ·  Storefront
      vm.small  ·  \`192.0.2.114\`",
        "*\`vm_9265Xp57xmWdK\`*  ·  status unknown",
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

  test('has the details of each machine', async () => {
    const detailsOf = async (machine: VirtualMachine) => {
      const shown = await listVirtualMachines
        .create(fakeApp({ account: { virtualMachines: { get: async () => machine } } }))
        .details?.['virtual-machine']?.(machine.id, origin)
      return [shown?.name, shown?.title, ...(shown?.facts ?? []).map(({ label, words }) => `${label}: ${words}`)].map(String)
    }
    expect(await detailsOf({ ...cache, createdAt: '2026-11-20T12:00:00Z' })).toMatchInlineSnapshot(`
      [
        "cache-1",
        "\`cache-1\`",
        "Status: Running",
        "Site: FRA",
        "Project: Storefront",
        "Plan: vm.small",
        "Address: \`192.0.2.114\`",
        "Operating system: Ubuntu 24.04",
        "Size: 2 vCPU, 4 GB memory",
        "Created: <!date^1795176000^{time} {date_short_pretty}|2026-11-20 12:00 UTC>",
        "Id: \`vm_7265Xp57xmWdK\`",
      ]
    `)
    expect(
      await detailsOf({ ...bare, specs: { vcpuCount: undefined, ram: undefined, storage: undefined, nic: undefined, gpu: undefined } }),
    ).toMatchInlineSnapshot(`
      [
        "vm_9265Xp57xmWdK",
        "\`vm_9265Xp57xmWdK\`",
        "Status: –",
        "Site: –",
        "Project: –",
        "Plan: –",
        "Address: –",
        "Operating system: –",
        "Size: –",
        "Id: \`vm_9265Xp57xmWdK\`",
      ]
    `)
  })

  test('tells machines with one name apart in the picker by project and site', async () => {
    const other = { ...cache, id: 'vm_2', project: { id: 'proj_2', name: 'Data platform', slug: 'data-platform' } }
    const { choices } = await list([], [cache, other])
    expect(choices?.options.map((one) => one?.text.text)).toEqual(['cache-1 (Data platform, FRA)', 'cache-1 (Storefront, FRA)'])
  })

  test('has no details of a machine that is gone', async () => {
    const get = () => Promise.reject(new ApiError({ operation: 'virtualMachines.get', status: 404, codes: [] }))
    const { details } = listVirtualMachines.create(fakeApp({ account: { virtualMachines: { get } } }))
    expect(await details?.['virtual-machine']?.('vm_gone', origin)).toBeUndefined()
  })

  test('says that there are none, or that none fits', async () => {
    expect(String((await list([], [])).empty)).toBe('The account has no virtual machines.')
    expect(String((await list(['tyo'], [cache])).empty)).toBe(
      "The only virtual machine doesn't match `tyo`. Use another word. Sites in this list: FRA.",
    )
  })
})
