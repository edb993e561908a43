import type { AccountApi } from '../../account-api/client.ts'
import { asFarAsRead } from '../../account-api/cut-list.ts'
import { mrkdwn } from '../../slack/text/text.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { apiKeyListing } from './messages.ts'

/** `/infra keys`: lists the API keys of the account. The account API never returns their tokens. */
export const listApiKeys = { create } satisfies FeatureDefinition

function create({ accountApi }: { accountApi: Pick<AccountApi, 'apiKeys'> }): Feature {
  return {
    commands: [
      {
        words: 'keys',
        usage: '[word…]',
        group: 'Keys',
        summary: 'API keys, and which of them deserve attention',
        details: mrkdwn`Shows access, allowed addresses, last use and owner. All words must match. Keys that deserve attention come first: never used, unused for 90 days, over a year old, full access from everywhere.`,
        examples: ['terraform', 'read-only'],
        need: 'read',
        run: async (call) => {
          const { items, cut } = await asFarAsRead(accountApi.apiKeys.list({ signal: AbortSignal.timeout(10_000) }))
          await call.list(apiKeyListing(items, call.args, Date.now(), cut))
        },
      },
    ],
  }
}
