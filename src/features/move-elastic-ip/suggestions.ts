import type { Inventory } from '../../account-api/inventory.ts'
import { asFarAsRead } from '../../account-api/lists/cut-list.ts'
import type { NameSource } from '../../slack/commands/help/unknown-name.ts'

/** Returns where the names for suggestions come from. `command` is the slash command's name. */
export function namesOf(inventory: Pick<Inventory, 'elasticIps' | 'servers'>, command: string): Record<string, NameSource> {
  return {
    'Elastic IP': {
      names: async () => (await asFarAsRead(inventory.elasticIps())).items.map(({ address }) => address),
      list: `${command} ip list`,
    },
    server: {
      names: async () => (await asFarAsRead(inventory.servers())).items.map(({ hostname }) => hostname),
      list: `${command} servers`,
    },
  }
}
