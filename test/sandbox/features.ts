import { createAccountApi } from '../../src/account-api/client.ts'
import { Secret } from '../../src/domain/secret.ts'
import type { Feature, FeatureParts } from '../../src/features/feature.ts'
import { createFeatures } from '../../src/features/index.ts'

/** The bot's own features without the bot, for what reads only their names and words: they reach neither an account nor Slack nor Redis. */
export function unconnectedFeatures(): Feature[] {
  // The client is a real one, because features build on it, and is never used.
  const accountApi = createAccountApi({ baseUrl: new URL('http://127.0.0.1:9'), key: new Secret('unused') })
  const parts = { accountApi, ownLastSlice: '', access: { policy: { rules: [] } }, setup: {} }
  return createFeatures(parts as unknown as FeatureParts)
}
