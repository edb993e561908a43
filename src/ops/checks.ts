import type { Check } from './health.ts'
import { atMostEvery } from './shared-runs.ts'

/** What is asked of each at a probe. Each rejects, or resolves, within 2 s. */
interface Probes {
  redis: () => Promise<unknown>
  slack: () => Promise<unknown>
  accountApi: () => Promise<unknown>
  /** Rejects with a sentence of its own where something is due and nobody looks. */
  ticks: Check
}

/** How often what is outside of the house is asked, however often somebody probes. */
const outsideMs = 30_000

/** The checks of `/readyz`, each failing with a sentence, and never with what the failed call carries. */
export function createChecks({ redis, slack, accountApi, ticks }: Probes): Record<string, Check> {
  return {
    redis: failingWith('Redis does not answer', redis),
    accountApi: atMostEvery(outsideMs, failingWith('The account API does not answer, or rejects the key', accountApi)),
    ticks,
    slack: atMostEvery(outsideMs, failingWith('Slack does not answer, or rejects the token', slack)),
  }
}

function failingWith(failure: string, probe: () => Promise<unknown>): () => Promise<void> {
  return async () => {
    await probe().catch(() => {
      throw new Error(failure)
    })
  }
}
