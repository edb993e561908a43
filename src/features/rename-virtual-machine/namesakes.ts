import type { AccountApi } from '../../account-api/client.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import { asFarAsRead, listNow, type ReadList } from '../../account-api/lists/cut-list.ts'
import { findNamesakes } from '../../domain/account/namesakes.ts'
import type { VirtualMachine } from '../../domain/account/virtual-machine.ts'
import { withinOr } from '../../domain/within.ts'
import type { RenameFinding } from './findings.ts'

/** The time limit for the list of virtual machines, because the requester waits for it. */
const listMs = 3_000

/** Lists the virtual machines. Returns undefined if they cannot be read in time, which does not prevent a rename. */
export function readMachines(
  { virtualMachines }: Pick<AccountApi, 'virtualMachines'>,
  { copies, signal }: { copies: Pick<Inventory, 'virtualMachines'> | undefined; signal: AbortSignal | undefined },
): Promise<ReadList<VirtualMachine> | undefined> {
  const list = asFarAsRead(listNow(copies?.virtualMachines, () => virtualMachines.list({ signal })))
  return withinOr(
    listMs,
    list.catch(() => undefined),
    undefined,
  )
}

/** The names of a virtual machine, before and after its rename. */
interface Names {
  virtualMachineId: string
  oldName: string | undefined
  name: string
}

/** Finds the other virtual machines whose name looks the same as the new one or the old one. `unchecked`: there may be others. */
export function namesakesAmong(
  read: ReadList<VirtualMachine> | undefined,
  { virtualMachineId, oldName, name }: Names,
): { unchecked: RenameFinding[]; warnings: RenameFinding[] } {
  const named = (read?.items ?? []).map((machine) => ({ id: machine.id, name: machine.name ?? '' }))
  const shared = oldName === undefined ? undefined : findNamesakes(oldName, named, virtualMachineId)
  const warnings: RenameFinding[] = oldName !== undefined && shared ? [{ code: 'name-shared', name: oldName, ...shared }] : []
  const found = findNamesakes(name, named, virtualMachineId)
  if (found) return { unchecked: [], warnings: [...warnings, { code: 'name-taken', name, ...found }] }
  const isWhole = read !== undefined && read.cut === undefined
  return { unchecked: isWhole ? [] : [{ code: 'names-not-compared', name }], warnings }
}
