import type { ReadList } from '../../account-api/cut-list.ts'
import { inNaturalOrder } from '../../domain/natural-order.ts'
import type { VirtualMachine } from '../../domain/virtual-machine.ts'
import { cutNotes } from '../../slack/blocks/cut-note.ts'
import { filteredListing } from '../../slack/blocks/filtered-listing.ts'
import type { Listing } from '../../slack/blocks/listing.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'

export function virtualMachineListing({ items, cut }: ReadList<VirtualMachine>, words: string[]): Listing {
  return filteredListing({
    all: items,
    words,
    textsOf,
    one: 'virtual machine',
    many: 'virtual machines',
    order: (a, b) => inNaturalOrder(nameOf(a), nameOf(b)) || inNaturalOrder(a.id, b.id),
    row,
    none: mrkdwn`The account has no virtual machines.`,
    notes: cutNotes(cut, items.length),
  })
}

function row(machine: VirtualMachine): Mrkdwn {
  const { id, status, project, site, plan, primaryIpv4, pendingRestart } = machine
  const details = [
    mrkdwn`${status ?? 'status unknown'}${pendingRestart ? ', restart pending' : ''}`,
    ...[project?.name, site, plan?.name ?? plan?.slug].flatMap((part) => (part === undefined ? [] : [mrkdwn`${part}`])),
    ...(primaryIpv4 === undefined ? [] : [code(primaryIpv4)]),
    code(id),
  ]
  return mrkdwn`*${code(nameOf(machine))}*  ·  ${joinMrkdwn(details, '  ·  ')}`
}

function nameOf({ id, name }: VirtualMachine): string {
  return name ?? id
}

function textsOf({ id, name, status, primaryIpv4, site, project, plan, operatingSystem, pendingRestart }: VirtualMachine): unknown[] {
  const system = [operatingSystem?.name, operatingSystem?.slug, operatingSystem?.version]
  const restart = pendingRestart ? 'restart pending' : ''
  return [id, name, status, primaryIpv4, site, project?.name, project?.slug, plan?.name, plan?.slug, ...system, restart]
}
