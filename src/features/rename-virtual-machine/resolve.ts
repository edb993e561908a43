import type { AccountApi } from '../../account-api/client.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import { throwIfOld } from '../../account-api/lists/cut-list.ts'
import { leftOutOf } from '../../account-api/lists/left-out.ts'
import { nothingIfAbsent } from '../../account-api/reading.ts'
import type { VirtualMachine } from '../../domain/account/virtual-machine.ts'
import { isUnanswered } from '../../domain/errors/api-errors.ts'
import { UnknownName, UserError } from '../../domain/errors/errors.ts'
import { ListCutError } from '../../domain/errors/list-errors.ts'

type Resolved = { is: 'one'; id: string } | { is: 'several'; machines: VirtualMachine[] }

/**
 * Finds the virtual machine that a person typed: by id, or else by its current name, which several can have. Throws UnknownName if there
 * is none. `copies`: the list that is shared.
 */
export function createResolve({ virtualMachines }: Pick<AccountApi, 'virtualMachines'>, copies?: Pick<Inventory, 'virtualMachines'>) {
  async function findById(typed: string, signal?: AbortSignal): Promise<string | undefined> {
    try {
      return (await virtualMachines.get(typed, { signal }).catch(nothingIfAbsent))?.id
    } catch (error) {
      // The text cannot be an id, but it can still be a name.
      if (error instanceof UserError) return undefined
      // A typed id is used as it is. The preflight check says what could not be read.
      if (isUnanswered(error) && isId(typed)) return typed
      throw error
    }
  }

  return async function resolve(typed: string, { signal }: { signal?: AbortSignal } = {}): Promise<Resolved> {
    try {
      const all = await (copies ? copies.virtualMachines() : virtualMachines.list({ signal }))
      if (all.some(({ id }) => id === typed)) return { is: 'one', id: typed }
      return chooseMachine(typed, all)
    } catch (error) {
      // An id needs no list.
      const id = isId(typed) || error instanceof ListCutError ? await findById(typed, signal) : undefined
      if (id === undefined) throw error
      return { is: 'one', id }
    }
  }
}

export function chooseMachine(typed: string, all: VirtualMachine[]): Resolved {
  const wanted = typed.trim().toLowerCase()
  const machines = all.filter(({ name }) => name?.toLowerCase() === wanted)
  const [only, ...others] = machines
  if (!only) throwIfOld(leftOutOf(all))
  if (!only) throw new UnknownName('virtual machine', typed)
  return others.length === 0 ? { is: 'one', id: only.id } : { is: 'several', machines }
}

/** Whether it looks like an id of the service: `vm_…`. Anything else may be a name. */
function isId(typed: string): boolean {
  return /^vm_\w+$/.test(typed)
}
