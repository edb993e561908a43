import type { AccountApi } from '../account/client.ts'
import type { Inventory } from '../account/inventory.ts'
import type { App } from '../app.ts'
import type { SeenAssignments } from '../domain/account.ts'
import type { Origin } from '../domain/approval.ts'
import type { Request } from '../domain/request.ts'
import type { FeatureDefinition as Definition } from '../kit/change-feature.ts'
import type { LastReceived } from '../slack/listen.ts'

export type { Feature } from '../kit/change-feature.ts'

export type FeatureDefinition = Definition<FeatureParts>

/** What features can use: App, and the parts of features that do not take it yet. */
export interface FeatureParts extends App {
  app: App
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

/** What only the check of the set-up needs. */
export interface Setup {
  showHome: (viewer: Origin) => Promise<'shown' | { refused: string } | { unavailable: string }>
  lastReceived: Pick<LastReceived, 'read'>
}
