import type { AccountApi } from '../../account-api/client.ts'
import { asFarAsRead } from '../../account-api/cut-list.ts'
import { findNamesakes } from '../../domain/namesakes.ts'
import type { VirtualMachine } from '../../domain/virtual-machine.ts'
import { withinOr } from '../../domain/within.ts'
import type { RenameInput } from './change.ts'
import type { RenameFinding } from './findings.ts'

/** The time limit for the search for other machines of the new name, because the requester waits for it. */
const namesakesMs = 3_000

/** Creates the search for virtual machines that already have the new name. Names need not be unique, so it prevents no rename. */
export function createReadNamesakes({ virtualMachines }: Pick<AccountApi, 'virtualMachines'>) {
  return async function readNamesakes(
    input: RenameInput,
    options: { signal: AbortSignal | undefined },
  ): Promise<{ unchecked: RenameFinding[]; warnings: RenameFinding[] }> {
    const list = asFarAsRead(virtualMachines.list(options))
    const read = await withinOr(
      namesakesMs,
      list.catch(() => undefined),
      undefined,
    )
    const warnings = namesakesIn(read?.items ?? [], input)
    const isOpen = warnings.length === 0 && (read === undefined || read.cut !== undefined)
    return { warnings, unchecked: isOpen ? [{ code: 'names-not-compared', name: input.name }] : [] }
  }
}

/** Finds the other virtual machines whose name looks the same as the new one. */
export function namesakesIn(machines: VirtualMachine[], { virtualMachineId, name }: RenameInput): RenameFinding[] {
  const named = machines.map((machine) => ({ id: machine.id, name: machine.name ?? '' }))
  const found = findNamesakes(name, named, virtualMachineId)
  return found ? [{ code: 'name-taken', name, ...found }] : []
}
