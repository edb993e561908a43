import type { VirtualMachine } from '../account/objects.ts'
import { thingList } from '../kit/list.ts'
import { virtualMachines } from '../kit/things.ts'
import type { Columns, Details } from '../slack/table.ts'
import { code, dateTime, mrkdwn, nameWords } from '../slack/text.ts'

const columns: Columns<VirtualMachine> = [
  { header: 'Virtual machine', cell: ({ id, name }) => nameWords(name ?? id) },
  { header: 'Status', cell: statusOf, absent: 'status unknown' },
  { header: 'Site', cell: ({ site }) => site },
  { header: 'Project', cell: ({ project }) => project?.name },
  { header: 'Plan', cell: ({ plan }) => plan?.name ?? plan?.slug, line: 2 },
  { header: 'Address', cell: ({ primaryIpv4 }) => primaryIpv4 && code(primaryIpv4), line: 2 },
]

function statusOf({ status, pendingRestart }: VirtualMachine): string | undefined {
  return pendingRestart ? `${status ?? 'status unknown'}, restart pending` : status
}

function facts({ operatingSystem: system, specs, createdAt }: VirtualMachine): Details['facts'] {
  const { vcpuCount, ram, storage, gpu } = specs
  const size = [vcpuCount === undefined ? undefined : `${vcpuCount} vCPU`, ram && `${ram} memory`, storage, gpu].filter(Boolean)
  return [
    { label: 'Operating system', words: mrkdwn`${[system?.name ?? system?.slug, system?.version].filter(Boolean).join(' ') || '–'}` },
    { label: 'Size', words: mrkdwn`${size.join(', ') || '–'}` },
    ...(createdAt === undefined ? [] : [{ label: 'Created', words: dateTime(Date.parse(createdAt)) }]),
  ]
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
  facts,
})
