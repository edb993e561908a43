import type { AccountApi } from '../account-api/client.ts'
import type { Inventory } from '../account-api/inventory.ts'
import type { Audit } from '../audit/intake.ts'
import type { Request } from '../domain/request.ts'
import type { Access } from '../requests/access/access.ts'
import type { Catalog } from '../requests/catalog.ts'
import type { Ask } from '../requests/lifecycle/submit.ts'
import type { Store } from '../requests/store/store.ts'
import type { GatherParts } from './check-setup/gather.ts'
import { checkSetup } from './check-setup/index.ts'
import { createApiKey } from './create-api-key/index.ts'
import type { Feature } from './feature.ts'
import { listApiKeys } from './list-api-keys/index.ts'
import { listBaselines } from './list-baselines/index.ts'
import { listElasticIps } from './list-elastic-ips/index.ts'
import { listMoves } from './list-moves/index.ts'
import { listPending } from './list-pending/index.ts'
import { listPlans } from './list-plans/index.ts'
import { moveElasticIp } from './move-elastic-ip/index.ts'
import { renameVirtualMachine } from './rename-virtual-machine/index.ts'
import { rotateRevokeApiKey } from './rotate-revoke-api-key/index.ts'
import { showAudit } from './show-audit/index.ts'
import { whoAmI } from './who-am-i/index.ts'

export interface FeatureParts {
  accountApi: AccountApi
  inventory: Inventory
  ask: Ask
  store: Store
  catalog: Catalog
  access: Access
  audit: Audit
  /** The address of a request's card. */
  linkTo: (request: Request) => string | undefined
  /** What only the doctor looks at. */
  setup: Omit<GatherParts, 'access' | 'store' | 'accountApi' | 'ownLastSlice'>
  /** The last characters of the API key that the bot itself uses. */
  ownLastSlice: string
}

/** Everything the bot can do, in the order in which help shows it. */
export function createFeatures(parts: FeatureParts): Feature[] {
  return [
    moveElasticIp(parts),
    listElasticIps(parts),
    listMoves(parts),
    renameVirtualMachine(parts),
    listPlans(parts),
    listBaselines(parts),
    listApiKeys(parts),
    createApiKey(parts),
    rotateRevokeApiKey(parts),
    listPending(parts),
    showAudit(parts),
    whoAmI(parts),
    checkSetup({ ...parts, ...parts.setup }),
  ]
}
