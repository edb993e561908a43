import type { AccountApi } from '../../account-api/client.ts'
import { asFarAsRead } from '../../account-api/cut-list.ts'
import { toUserMessage } from '../../slack/errors.ts'
import { mrkdwn } from '../../slack/text/text.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { type ElasticIpsRead, serverListing } from './messages.ts'

/** `/infra servers`: lists the servers of the account with their Elastic IPs. */
export const listServers = { create } satisfies FeatureDefinition

function create({ accountApi }: { accountApi: Pick<AccountApi, 'servers' | 'elasticIps'> }): Feature {
  /** The servers are listed even if their Elastic IPs cannot be read: a team without the feature has none. */
  async function readElasticIps(signal: AbortSignal): Promise<ElasticIpsRead> {
    try {
      return await asFarAsRead(accountApi.elasticIps.list({ signal }))
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
        group: 'Look',
        summary: 'Servers with status, site, project and their Elastic IPs',
        details: mrkdwn`Words filter by hostname, label, address, id, status, project or site. All of them must match.`,
        examples: ['fra', 'storefront ash'],
        need: 'read',
        run: async (call) => {
          const signal = AbortSignal.timeout(10_000)
          const [servers, elasticIps] = await Promise.all([asFarAsRead(accountApi.servers.list({ signal })), readElasticIps(signal)])
          await call.list(serverListing(servers, call.args, elasticIps))
        },
      },
    ],
  }
}
