import type { AccountApi } from '../account/client.ts'
import type { Inventory } from '../account/inventory.ts'
import type { App } from '../app.ts'
import type { Audit } from '../audit/audit.ts'
import type { OwnLastSlices, SeenAssignments } from '../domain/account.ts'
import type { Origin } from '../domain/approval.ts'
import type { Change } from '../domain/change.ts'
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
  app: App
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

/** What only the check of the set-up needs. */
export interface Setup {
  showHome: (viewer: Origin) => Promise<'shown' | { refused: string } | { unavailable: string }>
  lastReceived: Pick<LastReceived, 'read'>
}
