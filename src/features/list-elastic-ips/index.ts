import type { AccountApi } from '../../account-api/client.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import { asFarAsRead } from '../../account-api/lists/cut-list.ts'
import { nothingIfAbsent } from '../../account-api/reading.ts'
import { mrkdwn } from '../../slack/text/text.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { elasticIpDetails, elasticIpListing } from './messages.ts'

/** `/infra ip list`: lists the Elastic IPs of the account. */
export const listElasticIps = { create } satisfies FeatureDefinition

interface Parts {
  accountApi: Pick<AccountApi, 'elasticIps'>
  inventory: Pick<Inventory, 'elasticIps'>
}

function create({ accountApi: { elasticIps }, inventory }: Parts): Feature {
  return {
    commands: [
      {
        words: 'ip list',
        usage: '[word…]',
        group: 'View',
        summary: 'Elastic IPs with status, server, project and site',
        details: mrkdwn`Words filter by address, id, status, server, project or site. All of them must match.`,
        examples: ['fra', 'storefront active'],
        need: 'read',
        run: async (call) => {
          const { items, ...missing } = await asFarAsRead(inventory.elasticIps())
          await call.list(elasticIpListing(items, call.args, missing))
        },
      },
    ],
    details: {
      'elastic-ip': async (id) => {
        const elasticIp = await elasticIps.get(id, { signal: AbortSignal.timeout(10_000) }).catch(nothingIfAbsent)
        return elasticIp && elasticIpDetails(elasticIp)
      },
    },
  }
}
