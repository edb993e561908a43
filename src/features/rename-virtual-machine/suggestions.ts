import type { Inventory } from '../../account-api/inventory.ts'
import { asFarAsRead } from '../../account-api/lists/cut-list.ts'
import type { NameSource } from '../../slack/commands/help/unknown-name.ts'

/** Returns where the names for suggestions come from. `command` is the slash command's name. */
export function namesOf(inventory: Pick<Inventory, 'virtualMachines'>, command: string): Record<string, NameSource> {
  const names = async () => (await asFarAsRead(inventory.virtualMachines())).items.map(({ name }) => name)
  return { 'virtual machine': { names, list: `${command} vms` } }
}
