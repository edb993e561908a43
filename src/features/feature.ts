import type { AccountBudget } from '../account/budget.ts'
import type { AccountApi } from '../account/client.ts'
import type { Inventory } from '../account/inventory.ts'
import type { Audit } from '../audit/audit.ts'
import type { OwnLastSlices, SeenAssignments } from '../domain/account.ts'
import type { Origin } from '../domain/approval.ts'
import type { Change } from '../domain/change.ts'
import type { WriteRefusal } from '../domain/errors.ts'
import type { ChangeKind } from '../domain/policy.ts'
import type { Request } from '../domain/request.ts'
import type { Access } from '../requests/access.ts'
import type { Catalog } from '../requests/catalog.ts'
import type { FeatureHandlers } from '../requests/clicks.ts'
import type { Store } from '../requests/store.ts'
import type { Submit } from '../requests/submit.ts'
import type { Work } from '../requests/worker.ts'
import type { OpenForm } from '../slack/forms.ts'
import type { LastReceived } from '../slack/listen.ts'
import type { ChannelMembership, SetupProbe } from '../slack/web-api.ts'

/** One capability of Lockkeeper, with everything that only this capability needs. */
export interface Feature extends FeatureHandlers {
  changes?: Change[]
  /** What one worker at a time repeats, while the policy permits a kind of change of this feature. */
  repeated?: Work[]
}

/** How to create a feature, and its kinds of change, which the configuration needs before the feature is created. */
export interface FeatureDefinition {
  /** The kinds of its changes. These names are public, because `NO_APPROVAL` and policies use them. */
  kinds?: ChangeKind[]
  /** Those of its kinds that are many changes of another kind under one approval, each with that kind. */
  bundles?: Record<ChangeKind, ChangeKind>
  /** Creates the feature. Each feature uses some of the parts. */
  create(parts: FeatureParts): Feature
}

/** The parts that features can use. They do not depend on the list of features. */
export interface FeatureParts {
  accountApi: AccountApi
  inventory: Inventory
  submit: Submit
  openForm: OpenForm
  store: Store
  catalog: Catalog
  access: Access
  /** Where Lockkeeper saw Elastic IPs before. */
  seen: SeenAssignments
  audit: Audit
  /** Returns the address of a request's message. */
  linkTo: (request: Request) => string | undefined
  ownLastSlices: OwnLastSlices
  /** What the account allows. */
  writesPerMinute: number
  setup: Setup
}

/** The sources for the check of the set-up. */
export interface Setup {
  running: Running
  usesSockets: boolean
  /** The slash command that messages name where no command led to them. */
  command: string
  /** The channel that gets the notices to the operators, and the check whether they can be posted there. */
  opsChannel: { id: string; check: () => Promise<ChannelMembership> } | undefined
  probe: SetupProbe
  budget: Pick<AccountBudget, 'figures' | 'perMinute' | 'hasReadKey'>
  /** Reads the members of these groups, as for a decision. `unknown`: Slack gave no answer. */
  members: (groupIds: string[]) => Promise<Map<string, Set<string> | 'unknown'>>
  showHome: (viewer: Origin) => Promise<'shown' | { refused: string } | { unavailable: string }>
  lastReceived: Pick<LastReceived, 'read'>
  /** REDIS_PREFIX. */
  redisPrefix: string
  redisFaults: () => Promise<string[]>
  /** Returns why Redis refuses writes although it answers. Undefined if it takes them. */
  probeWrites: () => Promise<WriteRefusal | undefined>
}

/** A description of this process. */
interface Running {
  version: string
  role: 'all' | 'web' | 'worker'
  environment: string | undefined
  /** The number of rules of the policy. */
  rules: number
  /** The port that takes alerts. Undefined if it is off. */
  alerts: { port: number } | undefined
  /** The file that the rules come from. Undefined if they come from the variables. */
  policyFile: string | undefined
}
