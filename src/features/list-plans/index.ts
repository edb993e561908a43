import type { Inventory } from '../../account-api/inventory.ts'
import { asFarAsRead } from '../../account-api/lists/cut-list.ts'
import { code, mrkdwn } from '../../slack/text/text.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { planDetails, planListing } from './messages.ts'

/** `/infra plans`: lists the plans of virtual machines with stock and price. */
export const listPlans = { create } satisfies FeatureDefinition

interface Parts {
  inventory: Pick<Inventory, 'plans'>
}

function create({ inventory }: Parts): Feature {
  return {
    commands: [
      {
        words: 'plans',
        usage: '[word…]',
        group: 'View',
        summary: 'Virtual machine plans with size, stock and price',
        details: mrkdwn`Words filter by name, GPU, region, site or operating system. All of them must match. With the code of a site, stock is shown for that site only. ${code('in-stock')} keeps those in stock. A code such as ${code('EUR')} chooses the currency. ${code('cheapest')} sorts by the price for each vCPU, ${code('cheapest-gb')} for each GiB of memory.`,
        examples: ['fra in-stock EUR', 'h100 cheapest'],
        need: 'read',
        run: async (call) => {
          const { items, ...missing } = await asFarAsRead(inventory.plans())
          const asked = { words: call.args, name: call.slashCommand.origin.command }
          await call.list(planListing(items, asked, missing))
        },
      },
    ],
    details: {
      plan: async (id) => {
        const { items } = await asFarAsRead(inventory.plans())
        const plan = items.find((one) => one.id === id)
        return plan && planDetails(plan)
      },
    },
  }
}
