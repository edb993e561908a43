import { z } from 'zod'
import { type Answer, Refusal, refusal } from '../answer.ts'
import { type AuthorizedRequest, attributesOf } from '../authorized-request.ts'
import type { VirtualMachineState } from '../data/model.ts'
import { pageOf } from '../paging.ts'
import type { Account } from '../routes.ts'
import { renamedMachineOnWire, virtualMachineOnWire } from '../wire.ts'

export function listVirtualMachines({ world, maxPageSize }: Account, { query }: AuthorizedRequest): Answer {
  const projectId = world.data.projects.find(({ id, slug }) => [id, slug].includes(query['filter[project]'] ?? ''))?.id
  const found = world.data.virtualMachines.filter((machine) => query['filter[project]'] === undefined || machine.projectId === projectId)
  return pageOf(
    found.map((machine) => virtualMachineOnWire(world.data, machine)),
    query,
    maxPageSize,
    { hasTotal: true },
  )
}

export function getVirtualMachine({ world }: Account, { params: [id = ''] }: AuthorizedRequest): Answer {
  return { status: 200, body: { data: virtualMachineOnWire(world.data, existing(world.virtualMachine(id))), meta: {} } }
}

/** As in the real account API, a PATCH does more than rename: a `plan` powers the machine off. A bot that sends one fails its test. */
export function updateVirtualMachine({ world, record }: Account, request: AuthorizedRequest): Answer {
  const machine = existing(world.virtualMachine(request.params[0] ?? ''))
  const { name, plan } = attributesOf(
    request,
    'virtual_machines',
    z.object({ name: z.string().min(1).max(253).optional(), plan: z.string().optional() }),
  )
  if (machine.status === 'Resizing') throw refusal(409, 'CONFLICT', 'The virtual machine is being resized')

  if (name !== undefined) world.changeVirtualMachine(machine.id, { name })
  if (plan !== undefined) world.changeVirtualMachine(machine.id, { status: 'Resizing' })
  record('update.virtual_machine', { id: machine.id, name: name ?? machine.name }, request.key)
  const body = { data: renamedMachineOnWire(world.data, existing(world.virtualMachine(machine.id))), meta: {} }
  return { status: plan === undefined ? 200 : 202, body }
}

/** Some 404s of the account API have no body. */
function existing(machine: VirtualMachineState | undefined): VirtualMachineState {
  if (!machine) throw new Refusal({ status: 404, body: undefined })
  return machine
}
