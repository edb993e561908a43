import type { AccountApi } from '../../account-api/client.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import { asFarAsRead } from '../../account-api/lists/cut-list.ts'
import { nothingIfAbsent } from '../../account-api/reading.ts'
import { toUserMessage } from '../../slack/errors.ts'
import { mrkdwn } from '../../slack/text/text.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { type ElasticIpsRead, serverDetails, serverListing } from './messages.ts'

/** `/infra servers`: lists the servers of the account with their Elastic IPs. */
export const listServers = { create } satisfies FeatureDefinition

const readMs = 10_000

interface Parts {
  accountApi: Pick<AccountApi, 'servers'>
  inventory: Pick<Inventory, 'servers' | 'elasticIps'>
}

function create({ accountApi: { servers }, inventory }: Parts): Feature {
  /** The servers are shown even if their Elastic IPs cannot be read: a team without the feature has none. */
  async function readElasticIps(): Promise<ElasticIpsRead> {
    try {
      return await asFarAsRead(inventory.elasticIps())
    } catch (error) {
      const problem = toUserMessage(error)
      if (problem === undefined) throw error
      return { problem }
    }
  }

  return {
    commands: [
      {
        words: 'servers',
        usage: '[word…]',
        group: 'View',
        summary: 'Servers with status, site, project and their Elastic IPs',
        details: mrkdwn`Words filter by hostname, label, address, Elastic IP, id, status, project or site. All of them must match.`,
        examples: ['fra', 'storefront ash'],
        need: 'read',
        run: async (call) => {
          const reads = [asFarAsRead(inventory.servers()), readElasticIps()] as const
          const [all, onServers] = await Promise.all(reads)
          await call.list(serverListing(all, call.args, onServers))
        },
      },
    ],
    details: {
      server: async (id) => {
        const server = servers.get(id, { signal: AbortSignal.timeout(readMs) }).catch(nothingIfAbsent)
        const [found, itsElasticIps] = await Promise.all([server, readElasticIps()])
        return found && serverDetails(found, itsElasticIps)
      },
    },
  }
}
