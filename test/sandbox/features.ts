import { createAccountApi } from '../../src/account/client.ts'
import { Secret } from '../../src/domain/signing.ts'
import type { Feature, FeatureParts } from '../../src/features/feature.ts'
import { createFeatures } from '../../src/features/index.ts'

/** Returns the bot's features without a connection to an account, to Slack or to Redis. Only their names and texts can be used. */
export function unconnectedFeatures(): Feature[] {
  // Features need a real client, which is never used here.
  const accountApi = createAccountApi({ baseUrl: new URL('http://127.0.0.1:9'), key: new Secret('unused') })
  const parts = { account: accountApi, accountApi, ownLastSlices: {}, access: { policy: { rules: [] } }, setup: {} }
  return createFeatures(parts as unknown as FeatureParts)
}
