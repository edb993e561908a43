import type { ChangeKind } from '../domain/policy/change-kind.ts'
import type { Bundles } from '../domain/policy/policy.ts'
import { checkSetup } from './check-setup/index.ts'
import { createApiKey } from './create-api-key/index.ts'
import { evacuateServer } from './evacuate-server/index.ts'
import type { Feature, FeatureDefinition, FeatureParts } from './feature.ts'
import { listApiKeys } from './list-api-keys/index.ts'
import { listBaselines } from './list-baselines/index.ts'
import { listElasticIps } from './list-elastic-ips/index.ts'
import { listMoves } from './list-moves/index.ts'
import { listPending } from './list-pending/index.ts'
import { listPlans } from './list-plans/index.ts'
import { listServers } from './list-servers/index.ts'
import { listVirtualMachines } from './list-virtual-machines/index.ts'
import { lookUp } from './look-up/index.ts'
import { moveElasticIp } from './move-elastic-ip/index.ts'
import { renameVirtualMachine } from './rename-virtual-machine/index.ts'
import { rotateRevokeApiKey } from './rotate-revoke-api-key/index.ts'
import { showAudit } from './show-audit/index.ts'
import { whoAmI } from './who-am-i/index.ts'

/** All features, in the order of the help. */
const definitions: FeatureDefinition[] = [
  moveElasticIp,
  evacuateServer,
  listElasticIps,
  listMoves,
  listServers,
  renameVirtualMachine,
  listVirtualMachines,
  listPlans,
  listBaselines,
  listApiKeys,
  createApiKey,
  rotateRevokeApiKey,
  listPending,
  lookUp,
  showAudit,
  whoAmI,
  checkSetup,
]

/** Every kind of change. These names are public, so a kind is never renamed. */
export const changeKinds: ChangeKind[] = definitions.flatMap(({ kinds = [] }) => kinds)

/** The kinds that are many changes of another kind under one approval, each with that kind. */
export const bundles: Bundles = new Map(definitions.flatMap((definition) => Object.entries(definition.bundles ?? {})))

export function createFeatures(parts: FeatureParts): Feature[] {
  return definitions.map(({ create }) => create(parts))
}
