import type { AlertRoute } from '../../domain/policy/alert-route.ts'
import type { AlertClaim } from '../alert-states.ts'
import type { RefusalReason } from '../outcome.ts'
import type { Alert } from '../payload/payload.ts'
import type { FoundServer } from './find-servers.ts'

/** A firing alert that this process has claimed, while it is handled. */
export interface ClaimedFiring {
  alert: Alert
  route: AlertRoute
  claim: AlertClaim
}

/** What became of a firing alert. `storm`: it is still claimed, and the storm's thread has to list it. */
export type TakenFiring =
  | { is: 'proposed' | 'duplicate' | 'unmatched' }
  | { is: 'refused'; reason: RefusalReason }
  | { is: 'storm'; stormy: Stormy }

/** A claimed alert without a separate message, because there are too many. */
export interface Stormy {
  alert: Alert
  channelId: string
  claim: AlertClaim
  server: FoundServer | undefined
  /** The name of the server: its own, or the one in the alert. */
  name: string | undefined
}
