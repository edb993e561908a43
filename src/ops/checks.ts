import { ApiContractError, ApiError, isKeyRefused, StoreUnavailableError } from '../domain/errors.ts'
import { atMostEvery } from './shared-runs.ts'
import type { Check } from './status.ts'

/** What is asked of each dependency at a look. */
interface Probes {
  redis: () => Promise<unknown>
  /** Rejects with a sentence of its own. */
  slack: () => Promise<unknown>
  accountApi: () => Promise<unknown>
  /** Rejects with a sentence of its own where something is due and nobody works on it. */
  worker: () => Promise<void>
}

/** How often Slack and the account API are asked, however often somebody looks. */
const outsideMs = 30_000

/** The checks of `/status`, each failing with a sentence, and never with what the failed call carries. */
export function createChecks({ redis, slack, accountApi, worker }: Probes) {
  return {
    redis: failingWith(redis, () => 'Redis does not answer'),
    slack: atMostEvery(outsideMs, async () => void (await slack())),
    accountApi: atMostEvery(outsideMs, failingWith(accountApi, apiProblem)),
    worker: failingWith(worker, workerProblem),
  } satisfies Record<string, Check>
}

function failingWith(probe: () => Promise<unknown>, words: (error: unknown) => string): () => Promise<void> {
  return async () => {
    await probe().catch((error: unknown) => {
      throw new Error(words(error))
    })
  }
}

function apiProblem(error: unknown): string {
  if (error instanceof ApiError && isKeyRefused(error)) return `The account API rejects INFRA_API_KEY (${error.status})`
  if (error instanceof ApiError) return `The account API returned an error (${error.status})`
  if (error instanceof ApiContractError) return `The account API returned something unreadable (${error.status})`
  return 'The account API does not answer'
}

/** What the workers did is in Redis. */
function workerProblem(error: unknown): string {
  if (error instanceof StoreUnavailableError) return 'Unknown while Redis does not answer'
  return error instanceof Error ? error.message : 'Unknown'
}
