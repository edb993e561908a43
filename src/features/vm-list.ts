import type { VirtualMachine } from '../account/objects.ts'
import { thingList } from '../kit/list.ts'
import { virtualMachines } from '../kit/things.ts'
import type { Column, Columns } from '../slack/table.ts'
import { code, dateTime, mrkdwn, nameWords } from '../slack/text.ts'

const columns: Columns<VirtualMachine> = [
  { header: 'Virtual machine', cell: ({ id, name }) => nameWords(name ?? id) },
  { header: 'Status', cell: statusOf },
  { header: 'Site', cell: ({ site }) => site },
  { header: 'Project', cell: ({ project }) => project?.name },
  { header: 'Plan', cell: ({ plan }) => plan?.name ?? plan?.slug },
  { header: 'Address', cell: ({ primaryIpv4 }) => primaryIpv4 && code(primaryIpv4) },
]

function statusOf({ status = 'unknown', pendingRestart }: VirtualMachine): string {
  return pendingRestart ? `${status}, restart pending` : status
}

const more: Column<VirtualMachine>[] = [
  {
    header: 'Operating system',
    cell: ({ operatingSystem: system }) => [system?.name ?? system?.slug, system?.version].filter(Boolean).join(' '),
  },
  { header: 'Size', cell: sizeOf },
  { header: 'Created', cell: ({ createdAt }) => (createdAt === undefined ? undefined : dateTime(Date.parse(createdAt))) },
]

function sizeOf({ specs: { vcpuCount, ram, storage, gpu } }: VirtualMachine): string {
  return [vcpuCount === undefined ? undefined : `${vcpuCount} vCPU`, ram && `${ram} memory`, storage, gpu].filter(Boolean).join(', ')
}

export const listVirtualMachines = thingList({
  kind: 'virtual-machine',
  thing: virtualMachines,
  summary: 'Virtual machines with status, site, project, plan and address',
  filters: 'name, address, id, status, project, site, plan or operating system',
  examples: ['fra'],
  columns: () => columns,
  texts: ({ pendingRestart }) => [pendingRestart ? 'restart pending' : ''],
  site: ({ site }) => site,
  none: mrkdwn`The account has no virtual machines.`,
  more,
})
