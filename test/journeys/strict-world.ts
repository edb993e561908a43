import { usualTimings } from '../../src/domain/timings.ts'
import { documentedLimits } from '../sandbox/account-api/rate-limiter.ts'
import type { World, WorldOptions } from './world.ts'

/** A minute of the account takes this long here. */
const windowMs = 5_000

const shipped = { INFRA_READS_PER_MINUTE: '60', INFRA_WRITES_PER_MINUTE: '20', MOVE_POLL_BUDGET: '20', MOVE_POLL_INTERVAL: '500ms' }

/** The options of a world whose account has the documented limits, to which the bot keeps. */
export const strict = {
  env: shipped,
  timings: { ...usualTimings, accountWindowMs: windowMs },
  account: { limits: { ...documentedLimits, windowMs }, moveTakes: { min: 300, max: 300 } },
} satisfies WorldOptions

/** Returns the writes that the account did not refuse because of its limits. */
export const accepted = ({ accountApi }: World) => accountApi.journal.writes().filter(({ refused }) => !refused)
