import type { App, SendText } from '../app.ts'
import type { Bundles, ChangeKind, Confirmations } from '../domain/policy.ts'
import type { Ability, ListedChange } from '../kit/ability.ts'
import { takeAlerts } from './alerts/ability.ts'
import { showAudit } from './audit/audit.ts'
import { listBaselines } from './baselines.ts'
import { checkSetup } from './doctor.ts'
import { freezeChanges } from './freeze.ts'
import { listElasticIps } from './ip-list.ts'
import { createApiKey } from './keys/create.ts'
import { extendApiKey } from './keys/extend.ts'
import { keyEnds } from './keys/key-ends.ts'
import { listApiKeys } from './keys/list.ts'
import { reviewKeys } from './keys/review.ts'
import { revokeApiKey } from './keys/revoke.ts'
import { rotateApiKey } from './keys/rotate.ts'
import { lookUp } from './look-up.ts'
import { answerMachines } from './machines/ability.ts'
import { evacuateServer } from './moves/ip-evacuate.ts'
import { moveElasticIp } from './moves/ip-move.ts'
import { listMoves } from './moves/list.ts'
import { tellOutside } from './outside/outside.ts'
import { confirmWithPasskeys } from './passkeys/ability.ts'
import { listPending } from './pending.ts'
import { listPlans } from './plans.ts'
import { listServers } from './servers.ts'
import { listVirtualMachines } from './vm-list.ts'
import { renameVirtualMachine } from './vm-rename.ts'
import { whoAmI } from './whoami.ts'

/** All abilities, in the order of the help. */
export const abilities: Ability[] = [
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
  confirmWithPasskeys,
  listPending,
  takeAlerts,
  answerMachines,
  tellOutside,
  reviewKeys,
  lookUp,
  showAudit,
  whoAmI,
  checkSetup,
]

/** Every kind of change. These names are public, so a kind is never renamed. */
export const changeKinds: ChangeKind[] = abilities.flatMap(({ kinds = [] }) => kinds)

export const bundles: Bundles = new Map(abilities.flatMap((ability) => Object.entries(ability.bundles ?? {})))

/** The kinds that NO_APPROVAL can't name. */
export const neverExempt: ChangeKind[] = abilities.flatMap(({ kinds = [], neverExempt }) => (neverExempt ? kinds : []))

/** Of all messages that abilities owe, by the name that they have in the outbox. */
export const senders: Record<string, SendText> = Object.assign({}, ...abilities.map(({ senders }) => senders))

export const ports: NonNullable<Ability['ports']> = Object.assign({}, ...abilities.map(({ ports }) => ports))

const confirms: NonNullable<Ability['confirms']> = Object.assign({}, ...abilities.map(({ confirms }) => confirms))

/** What rules can ask for besides a click on *Approve*, by name, with the kinds of change that always need it. */
export const confirmations: Confirmations = new Map(Object.entries(confirms).map(([name, { kinds }]) => [name, kinds]))

export function confirmationsOf(app: App): App['confirmations'] {
  return Object.fromEntries(Object.entries(confirms).map(([name, { of }]) => [name, of(app)]))
}

/** What the abilities change on the account without a request. */
export async function ownChanges(app: App, found: ListedChange[]): Promise<Set<string>> {
  const each = await Promise.all(abilities.flatMap((ability) => ability.ownChanges?.(app, found) ?? []))
  return new Set(each.flatMap((ids) => [...ids]))
}
