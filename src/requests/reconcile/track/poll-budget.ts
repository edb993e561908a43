import type { Redis } from '../../../redis/connect.ts'
import type { Keys } from '../../../redis/key-names.ts'
import { createScripts, readScripts } from '../../../redis/scripts.ts'

const scripts = readScripts(import.meta.url, ['spend'])

interface PollBudgetParts {
  redis: Redis
  keys: Keys
  /** How many requests to the account API all replicas together may spend in any 60 seconds. */
  perMinute: number
}

/**
 * Creates the budget of the looks between two ticks, which all replicas share. It throws StoreUnavailableError if Redis does not answer. A
 * command whose answer is lost is repeated and then counts twice, which only spends less.
 */
export function createPollBudget({ redis, keys, perMinute }: PollBudgetParts) {
  const run = createScripts(redis, scripts)

  return {
    /** Takes up to `wanted` requests from the budget. Returns how many may be sent. */
    async spend(wanted: number): Promise<number> {
      const [granted] = await run('spend', [keys.pollBudget], [String(wanted), String(perMinute)])
      return Number(granted)
    },
  }
}
export type PollBudget = ReturnType<typeof createPollBudget>
