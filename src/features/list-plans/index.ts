import type { AccountApi } from '../../account-api/client.ts'
import { asFarAsRead } from '../../account-api/cut-list.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { planListing } from './messages.ts'

/** `/infra plans`: lists the plans of virtual machines with stock and price. */
export const listPlans = { create } satisfies FeatureDefinition

function create({ accountApi }: { accountApi: Pick<AccountApi, 'plans'> }): Feature {
  return {
    commands: [
      {
        words: 'plans',
        usage: '[word…]',
        summary:
          'Shows virtual machine plans with their size, stock and price. Words filter by name, GPU, region, site or operating system; in-stock keeps those in stock; a code such as EUR chooses the currency; cheapest compares by vCPU, cheapest-gb by memory.',
        example: 'fra in-stock EUR',
        need: 'read',
        run: async (call) => {
          const { items, cut } = await asFarAsRead(accountApi.plans.list({ signal: AbortSignal.timeout(10_000) }))
          await call.list(planListing(items, call.args, cut))
        },
      },
    ],
  }
}
