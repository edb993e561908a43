import type { AccountApi } from '../../account-api/client.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import { asFarAsRead } from '../../account-api/lists/cut-list.ts'
import { nothingIfAbsent } from '../../account-api/reading.ts'
import { mrkdwn } from '../../slack/text/text.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { virtualMachineDetails, virtualMachineListing } from './messages.ts'

/** `/infra vms`: lists the virtual machines of the account. */
export const listVirtualMachines = { create } satisfies FeatureDefinition

interface Parts {
  accountApi: Pick<AccountApi, 'virtualMachines'>
  inventory: Pick<Inventory, 'virtualMachines'>
}

function create({ accountApi: { virtualMachines }, inventory }: Parts): Feature {
  return {
    commands: [
      {
        words: 'vms',
        usage: '[word…]',
        group: 'View',
        summary: 'Virtual machines with status, site, project, plan and address',
        details: mrkdwn`Words filter by name, address, id, status, project, site, plan or operating system. All of them must match.`,
        examples: ['fra'],
        need: 'read',
        run: async (call) => call.list(virtualMachineListing(await asFarAsRead(inventory.virtualMachines()), call.args)),
      },
    ],
    details: {
      'virtual-machine': async (id) => {
        const machine = await virtualMachines.get(id, { signal: AbortSignal.timeout(10_000) }).catch(nothingIfAbsent)
        return machine && virtualMachineDetails(machine)
      },
    },
  }
}
