import type { AccountApi } from '../account-api/client.ts'
import type { Inventory } from '../account-api/inventory.ts'
import type { Audit } from '../audit/intake.ts'
import type { Change } from '../domain/change.ts'
import type { ChangeKind } from '../domain/change-kind.ts'
import type { Origin } from '../domain/origin.ts'
import type { Request } from '../domain/request.ts'
import type { Access } from '../requests/access/access.ts'
import type { Catalog } from '../requests/catalog.ts'
import type { FeatureHandlers } from '../requests/interactions/interactions.ts'
import type { LastReceived } from '../requests/interactions/last-received.ts'
import type { Submit } from '../requests/lifecycle/submit.ts'
import type { Store } from '../requests/store/store.ts'
import type { SetupProbe } from '../slack/web-api/setup-probe.ts'

/** One capability of the bot: everything that is its own, and nothing that others have too. */
export interface Feature extends FeatureHandlers {
  changes?: Change[]
}

/** How a feature is made, and what has to be known of it before: the configuration names kinds of change, and everything is built from it. */
export interface FeatureDefinition {
  /** The kinds of its changes. The names are public: `NO_APPROVAL` and policies use them. */
  kinds?: ChangeKind[]
  /** Each feature takes from the parts what it needs. */
  create(parts: FeatureParts): Feature
}

/** What the bot has for its features. It does not depend on which features there are. */
export interface FeatureParts {
  accountApi: AccountApi
  inventory: Inventory
  submit: Submit
  store: Store
  catalog: Catalog
  access: Access
  audit: Audit
  /** The address of a request's card. */
  linkTo: (request: Request) => string | undefined
  /** The last characters of the API key that the bot itself uses. */
  ownLastSlice: string
  setup: Setup
}

/** What tells how the bot is set up and connected. */
export interface Setup {
  running: Running
  usesSockets: boolean
  opsChannel: string | undefined
  probe: SetupProbe
  /** Who is in these groups, as it is asked for at a decision. */
  members: (groupIds: string[]) => Promise<Map<string, Set<string> | 'unknown'>>
  showHome: (viewer: Origin) => Promise<'shown' | { refused: string } | { unavailable: string }>
  lastReceived: Pick<LastReceived, 'read'>
  redisFaults: () => Promise<string[]>
}

/** What runs in this process. */
export interface Running {
  version: string
  role: 'all' | 'web' | 'worker'
  environment: string | undefined
  /** How many rules the policy has, and the file that they come from. */
  rules: number
  policyFile: string | undefined
}
