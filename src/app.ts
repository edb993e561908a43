import type { Logger } from '@slack/bolt'
import type { AccountBudget } from './account/budget.ts'
import type { AccountApi } from './account/client.ts'
import type { Inventory } from './account/inventory.ts'
import type { Audit } from './audit/audit.ts'
import type { Config } from './config/config.ts'
import type { RequestSignatures } from './domain/request-signature.ts'
import type { Keyring } from './domain/signing.ts'
import type { Timings } from './domain/timings.ts'
import type { Submit } from './messages/submit-words.ts'
import type { ErrorReports, Log, RepeatedLines } from './ops/log.ts'
import type { Metrics } from './ops/metrics.ts'
import type { Catalog } from './record/catalog.ts'
import type { Freezes } from './record/freeze.ts'
import type { Lease, Owed, Settlement } from './record/owed.ts'
import type { Store } from './record/store.ts'
import type { Assignments } from './redis/assignments.ts'
import type { Redis } from './redis/connect.ts'
import type { RedisConnections } from './redis/connections.ts'
import type { Keys } from './redis/key-names.ts'
import type { Queues } from './redis/queues.ts'
import type { Confirmation } from './rights/confirmation.ts'
import type { Directory } from './slack/people.ts'
import type { Respond } from './slack/respond.ts'
import type { ChannelMembership, Messenger, OnSlackCall, SetupProbe, SlackIdentity } from './slack/web-api.ts'

/** Sends a message that is about no request. `facts`: as Redis has them. `sinceMs`: when it was first owed, in ms since 1970. */
export type SendText = (app: App, owed: Owed, leased: Lease, facts: string, sinceMs: number) => Promise<Settlement>

/** Two values: `people`, whose Redis connection fails within a second, and `jobs`, whose connection waits until Redis is back. */
export interface App {
  config: Config
  timings: Timings

  log: Log
  lines: RepeatedLines
  metrics: Metrics
  errors: ErrorReports

  redis: Redis
  keys: Keys
  connections: RedisConnections

  account: AccountApi
  budget: AccountBudget
  /** The last answer of the account to this process, whatever was asked, by the clock of `performance.now`. */
  accountSeen: { last?: { status: number | 'unreachable' | 'contract'; at: number } }
  /** The lists of the account, for people who look at them and pick from them. */
  lists: Inventory
  /** Which server each Elastic IP was last seen on. */
  assignments: Assignments
  /** The last characters of Lockkeeper's own key. */
  ownLastSlice: string

  slack: {
    messenger: Messenger
    respond: Respond
    identity: SlackIdentity
    probe: SetupProbe
    logger: Logger
    onCall: OnSlackCall
    /** Of the last request to this process that named the workspace. */
    signature: { isWrong: boolean }
  }
  directory: Directory
  /** The channel of the operators. `check`: whether notices can be posted there. */
  opsChannel: { id: string; check: () => Promise<ChannelMembership> } | undefined

  catalog: Catalog
  /** Of the messages that abilities owe, by the name that they have in the outbox. */
  senders: Record<string, SendText>
  /** The names of the ports that abilities can open. */
  ports: string[]
  /** What rules can ask for besides a click on *Approve*, by the name that they have there. */
  confirmations: Record<string, Confirmation>
  signatures: RequestSignatures
  /** Seals what is kept in Redis beside requests and the audit. */
  recordKeyring: Keyring
  audit: Audit
  store: Store
  freezes: Freezes
  queues: Queues

  submit: Submit
}
