import type { App } from '../app.ts'
import type { Bundles, ChangeKind } from '../domain/policy.ts'
import type { Feature, FeatureDefinition, Setup } from '../kit/change-feature.ts'
import { showAudit } from './audit/audit.ts'
import { listBaselines } from './baselines.ts'
import { checkSetup } from './doctor.ts'
import { freezeChanges } from './freeze.ts'
import { listElasticIps } from './ip-list.ts'
import { revokeApiKey, rotateApiKey } from './keys/change.ts'
import { createApiKey } from './keys/create.ts'
import { extendApiKey, keyEnds } from './keys/extend.ts'
import { listApiKeys } from './keys/list.ts'
import { reviewKeys } from './keys/review.ts'
import { lookUp } from './look-up.ts'
import { evacuateServer } from './moves/ip-evacuate.ts'
import { moveElasticIp } from './moves/ip-move.ts'
import { listMoves } from './moves/list.ts'
import { tellOutside } from './outside/outside.ts'
import { listPending } from './pending.ts'
import { listPlans } from './plans.ts'
import { listServers } from './servers.ts'
import { listVirtualMachines } from './vm-list.ts'
import { renameVirtualMachine } from './vm-rename.ts'
import { whoAmI } from './whoami.ts'

export type { Feature }

/** All features, in the order of the help. */
const definitions: (Omit<FeatureDefinition, 'create'> & { create(app: App, setup: Setup): Feature })[] = [
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
  extendApiKey,
  rotateApiKey,
  revokeApiKey,
  keyEnds,
  freezeChanges,
  listPending,
  tellOutside,
  reviewKeys,
  lookUp,
  showAudit,
  whoAmI,
  checkSetup,
]

/** Every kind of change. These names are public, so a kind is never renamed. */
export const changeKinds: ChangeKind[] = definitions.flatMap(({ kinds = [] }) => kinds)

export const bundles: Bundles = new Map(definitions.flatMap((definition) => Object.entries(definition.bundles ?? {})))

/** The kinds that NO_APPROVAL can't name. */
export const neverExempt: ChangeKind[] = definitions.flatMap(({ kinds = [], neverExempt }) => (neverExempt ? kinds : []))

export function createFeatures(app: App, setup: Setup): Feature[] {
  return definitions.map(({ create }) => create(app, setup))
}
