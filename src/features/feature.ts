import type { AccountBudget } from '../account/budget.ts'
import type { AccountApi } from '../account/client.ts'
import type { Inventory } from '../account/inventory.ts'
import type { App } from '../app.ts'
import type { SeenAssignments } from '../domain/account.ts'
import type { Origin } from '../domain/approval.ts'
import type { WriteRefusal } from '../domain/errors.ts'
import type { Request } from '../domain/request.ts'
import type { FeatureDefinition as Definition } from '../kit/change-feature.ts'
import type { LastReceived } from '../requests/clicks.ts'
import type { ChannelMembership, SetupProbe } from '../slack/web-api.ts'

export type { Feature } from '../kit/change-feature.ts'

export type FeatureDefinition = Definition<FeatureParts>

/** What features can use: App, and the parts of features that do not take it yet. */
export interface FeatureParts extends App {
  accountApi: AccountApi
  inventory: Inventory
  /** Where Lockkeeper saw Elastic IPs before. */
  seen: SeenAssignments
  /** Returns the address of a request's message. */
  linkTo: (request: Request) => string | undefined
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
