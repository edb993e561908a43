import type { VirtualMachine } from '../domain/account.ts'
import { placeOf } from '../slack/pickers.ts'
import type { Thing } from './thing.ts'

export const virtualMachines: Thing<VirtualMachine> = {
  one: 'virtual machine',
  a: 'a virtual machine',
  many: 'virtual machines',
  listedBy: 'vms',
  list: (app) => app.lists.virtualMachines(),
  nameOf: ({ name }) => name,
  /** Two virtual machines can have the same name and place, so the small print has the address and the id. */
  candidate: ({ id, name, primaryIpv4, project, site }) => ({
    value: id,
    text: inPlace(name ?? id, placeOf(project, site)),
    description: smallPrint([primaryIpv4, name === undefined ? undefined : id]),
    terms: [primaryIpv4, project?.slug],
  }),
  details: ({ project, site, primaryIpv4, status }) => [placeOf(project, site), primaryIpv4, status],
  read: (app, id, signal) => app.account.virtualMachines.get(id, { signal }),
  isId: (typed) => /^vm_\w+$/.test(typed),
}

function inPlace(name: string, place: string): string {
  return place === '' ? name : `${name} (${place})`
}

function smallPrint(parts: (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join('  ·  ')
}
