import type { ModalView } from '@slack/web-api'
import type { Inventory } from '../../account-api/inventory.ts'
import { asFarAsRead, throwIfOld } from '../../account-api/lists/cut-list.ts'
import type { VirtualMachine } from '../../domain/account/virtual-machine.ts'
import { UnknownName } from '../../domain/errors/errors.ts'
import type { GivenWords } from '../../slack/commands/commands.ts'
import { fillForm } from '../../slack/commands/forms/fill-form.ts'
import { withSuggestions } from '../../slack/commands/help/unknown-name.ts'
import { Refusal } from '../../slack/errors.ts'
import { code, mrkdwn } from '../../slack/text/text.ts'
import { renameModal } from './modal.ts'
import { virtualMachineOption } from './pickers.ts'
import { namesOf } from './suggestions.ts'

/** Creates the form of an incomplete rename, filled with the virtual machine that was typed. */
export function createFillRename(inventory: Pick<Inventory, 'virtualMachines'>) {
  return async function fillRename(metadata: string, { args: [typed], command, problem }: GivenWords): Promise<ModalView> {
    if (typed === undefined) return renameModal({ metadata, problem })
    const lookUp = withSuggestions(find(typed), namesOf(inventory, command))
    return fillForm(typed, lookUp, (filled) =>
      'problem' in filled
        ? renameModal({ metadata, problem: filled.problem })
        : renameModal({ metadata, virtualMachine: virtualMachineOption(filled) }),
    )
  }

  async function find(typed: string): Promise<VirtualMachine> {
    const { items, ...missing } = await asFarAsRead(inventory.virtualMachines())
    const byId = items.find(({ id }) => id === typed)
    if (byId) return byId
    const machines = items.filter(({ name }) => name?.toLowerCase() === typed.toLowerCase())
    const [only, ...others] = machines
    if (only && others.length === 0) return only
    // An item that is missing in a list that was cut off may still exist. In that case this read throws.
    if (!only) await inventory.virtualMachines()
    if (!only) throwIfOld(missing)
    if (!only) throw new UnknownName('virtual machine', typed)
    throw new Refusal(mrkdwn`${machines.length} virtual machines are called ${code(typed)}. Choose one below.`)
  }
}
