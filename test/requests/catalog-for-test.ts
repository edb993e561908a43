import { createAccountApi } from '../../src/account-api/client.ts'
import { Secret } from '../../src/domain/secret.ts'
import type { FeatureParts } from '../../src/features/feature.ts'
import { createFeatures } from '../../src/features/index.ts'
import { createCatalog } from '../../src/requests/catalog.ts'

const accountApi = createAccountApi({ baseUrl: new URL('http://127.0.0.1:9'), key: new Secret('unused') })
const parts = { accountApi, ownLastSlice: '', access: { policy: { rules: [] } }, setup: {} }

/** The kinds of change that the bot has, over an account API that does not answer: for what needs only their names and words. */
export const catalog = createCatalog(() => createFeatures(parts as unknown as FeatureParts).flatMap(({ changes = [] }) => changes))
