import type { Inventory } from '../../account-api/inventory.ts'
import { asFarAsRead, findInList } from '../../account-api/lists/cut-list.ts'
import type { OwnLastSlices } from '../../domain/account/api-key.ts'
import { mrkdwn } from '../../slack/text/text.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { apiKeyDetails, apiKeyListing } from './messages.ts'

/** `/infra keys`: lists the API keys of the account. The account API never returns their tokens. */
export const listApiKeys = { create } satisfies FeatureDefinition

interface ListApiKeysParts {
  inventory: Pick<Inventory, 'apiKeys'>
  ownLastSlices: OwnLastSlices
}

function create({ inventory, ownLastSlices }: ListApiKeysParts): Feature {
  return {
    commands: [
      {
        words: 'keys',
        usage: '[word…]',
        group: 'Keys',
        summary: 'API keys, those that need attention first',
        details: mrkdwn`Shows access, allowed addresses, last use and owner. All words must match. Keys that need attention come first: never used, unused for 90 days, over a year old, full access from any IP.`,
        examples: ['terraform', 'read-only'],
        need: 'read',
        run: async (call) => {
          const { items, ...missing } = await asFarAsRead(inventory.apiKeys())
          await call.list(apiKeyListing(items, call.args, { now: Date.now(), ownLastSlices, missing }))
        },
      },
    ],
    details: {
      'api-key': async (id) => {
        const key = await findInList(inventory.apiKeys(), (one) => one.id === id)
        return key && apiKeyDetails(key, { now: Date.now(), ownLastSlices })
      },
    },
  }
}
