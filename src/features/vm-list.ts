import { asFarAsRead, nothingIfAbsent, type ReadList } from '../account/resource.ts'
import type { VirtualMachine } from '../domain/account.ts'
import { inNaturalOrder } from '../domain/text.ts'
import { detailsMs, listFeature } from '../kit/list.ts'
import { filteredListing, type Listing } from '../slack/listing.ts'
import { placeOf } from '../slack/pickers.ts'
import { type Columns, type Details, detailsOf, idFact } from '../slack/table.ts'
import { code, dateTime, mrkdwn } from '../slack/text.ts'

const columns: Columns<VirtualMachine> = [
  { header: 'Virtual machine', cell: (machine) => code(nameOf(machine)) },
  { header: 'Status', cell: statusOf, absent: 'status unknown' },
  { header: 'Site', cell: ({ site }) => site },
  { header: 'Project', cell: ({ project }) => project?.name },
  { header: 'Plan', cell: ({ plan }) => plan?.name ?? plan?.slug, line: 2 },
  { header: 'Address', cell: ({ primaryIpv4 }) => primaryIpv4 && code(primaryIpv4), line: 2 },
]

function virtualMachineListing({ items, ...missing }: ReadList<VirtualMachine>, words: string[]): Listing {
  return filteredListing({
    all: items,
    words,
    textsOf,
    siteOf: ({ site }) => site,
    one: 'virtual machine',
    many: 'virtual machines',
    order: (a, b) => inNaturalOrder(nameOf(a), nameOf(b)) || inNaturalOrder(a.id, b.id),
    columns,
    details: { of: 'virtual-machine', placeholder: 'Details of a virtual machine', idOf: ({ id }) => id, nameOf: pickerName },
    none: mrkdwn`The account has no virtual machines.`,
    missing,
  })
}

function virtualMachineDetails(machine: VirtualMachine): Details {
  const { operatingSystem: system, specs, createdAt, id } = machine
  const facts = [
    { label: 'Operating system', words: mrkdwn`${[system?.name ?? system?.slug, system?.version].filter(Boolean).join(' ') || '–'}` },
    { label: 'Size', words: mrkdwn`${sizeOf(specs) || '–'}` },
    ...(createdAt === undefined ? [] : [{ label: 'Created', words: dateTime(Date.parse(createdAt)) }]),
    idFact(id),
  ]
  return { ...detailsOf(machine, columns, facts), name: nameOf(machine) }
}

function sizeOf({ vcpuCount, ram, storage, gpu }: VirtualMachine['specs']): string {
  return [vcpuCount === undefined ? undefined : `${vcpuCount} vCPU`, ram && `${ram} memory`, storage, gpu].filter(Boolean).join(', ')
}

function statusOf({ status, pendingRestart }: VirtualMachine): string | undefined {
  return pendingRestart ? `${status ?? 'status unknown'}, restart pending` : status
}

/** Several machines can have one name, so the picker adds the project and the site, as the table shows them. */
function pickerName(machine: VirtualMachine): string {
  const place = placeOf(machine.project, machine.site)
  return place === '' ? nameOf(machine) : `${nameOf(machine)} (${place})`
}

function nameOf({ id, name }: VirtualMachine): string {
  return name ?? id
}

function textsOf({ id, name, status, primaryIpv4, site, project, plan, operatingSystem, pendingRestart }: VirtualMachine): unknown[] {
  const system = [operatingSystem?.name, operatingSystem?.slug, operatingSystem?.version]
  const restart = pendingRestart ? 'restart pending' : ''
  return [id, name, status, primaryIpv4, site, project?.name, project?.slug, plan?.name, plan?.slug, ...system, restart]
}

/** `/infra vms`: lists the virtual machines of the account. */
export const listVirtualMachines = listFeature({
  words: 'vms',
  usage: '[word…]',
  group: 'View',
  summary: 'Virtual machines with status, site, project, plan and address',
  details: mrkdwn`Words filter by name, address, id, status, project, site, plan or operating system. All of them must match.`,
  examples: ['fra'],
  list: async (app, { args }) => virtualMachineListing(await asFarAsRead(app.lists.virtualMachines()), args),
  item: {
    of: 'virtual-machine',
    read: async (app, id) => {
      const read = app.account.virtualMachines.get(id, { signal: AbortSignal.timeout(detailsMs) })
      const machine = await read.catch(nothingIfAbsent)
      return machine && virtualMachineDetails(machine)
    },
  },
})
