import { AccountLimitError, ApiContractError, ApiError, isKeyRefused } from '../../domain/errors/api-errors.ts'
import { StoreUnavailableError } from '../../domain/errors/errors.ts'
import { isMissingRight } from '../../domain/errors/missing-right.ts'
import { refusesWrites, type WriteRefusal, writeRefusalOf } from '../../domain/errors/write-refusal.ts'
import { atMostEvery } from './shared-runs.ts'
import type { Check } from './status.ts'

/** Probes each dependency. */
interface Probes {
  redis: () => Promise<unknown>
  /** Returns the latest problem of the connection to Redis as a code, such as `ECONNREFUSED`. Undefined if there is none. */
  redisProblem?: () => string | undefined
  /** Returns why Redis refuses writes although it answers. Undefined if it takes them. */
  probeWrites: () => Promise<WriteRefusal | undefined>
  /** Returns the settings with which Redis could lose requests, as sentences. */
  redisFaults: () => Promise<string[]>
  /** Rejects with an Error whose message is a sentence for operators. */
  slack: () => Promise<unknown>
  accountApi: () => Promise<unknown>
  /** Lets one process probe the account in a minute, and tells the others what it found, because each probe spends a read. */
  shareFinding?: (probe: (before: Finding) => Promise<Finding>) => Promise<Finding>
  /** Rejects with an Error whose message is a sentence for operators, if requests are due and no worker handles them. */
  worker: () => Promise<void>
}

/** What a probe found: a problem, or something to know although nothing is wrong. Sentences for operators. */
export interface Finding {
  problem?: string | undefined
  note?: string | undefined
  /** When to probe again, in ms, if that is sooner than usual. */
  againMs?: number | undefined
}

/** Slack is probed at most this often, however often the page is read. */
const externalProbeMs = 30_000

/** Creates the checks of `/status`. Each fails with its own sentence and shows no details of the failed call, which can be secret. */
export function createChecks({
  redis,
  redisProblem = () => undefined,
  probeWrites,
  redisFaults,
  slack,
  accountApi,
  shareFinding = (probe) => probe({}),
  worker,
}: Probes) {
  return {
    redis: async () => {
      const fail = (error: unknown) => {
        throw new Error(isMissingRight(error) ? 'Redis refuses the command (NOPERM)' : redisWords(redisProblem()))
      }
      const refusal = await redis().then(probeWrites).catch(fail)
      failOn(refusal ? [refusesWrites(refusal)] : [])
    },
    redisSettings: failingWith(async () => failOn(await redisFaults()), unknownWithoutRedis),
    slack: atMostEvery(externalProbeMs, async () => void (await slack())),
    accountApi: async () => {
      const probe = (before: Finding) =>
        accountApi().then(
          () => ({}),
          (error: unknown) => accountFinding(error, before),
        )
      const { problem, note } = await shareFinding(probe).catch((error: unknown) => ({
        problem: unknownWithoutRedis(error),
        note: undefined,
      }))
      failOn(problem === undefined ? [] : [problem])
      return note
    },
    worker: async () => {
      try {
        await worker()
      } catch (error) {
        // Workers report themselves in Redis, so nobody knows whether they run. A Redis that does not answer is not asked again.
        const cause = error instanceof StoreUnavailableError ? error : await failureOf(probeWrites)
        throw new Error(unknownWithoutRedis(cause ?? error))
      }
    },
  } satisfies Record<string, Check>
}

function failingWith(probe: () => Promise<unknown>, words: (error: unknown) => string): () => Promise<void> {
  return async () => {
    await probe().catch((error: unknown) => {
      throw new Error(words(error))
    })
  }
}

/** Returns the error with which a write fails now. Undefined if Redis takes it. */
async function failureOf(probeWrites: Probes['probeWrites']): Promise<unknown> {
  try {
    const refusal = await probeWrites()
    return refusal && new StoreUnavailableError(refusesWrites(refusal), refusal.code)
  } catch (error) {
    return error
  }
}

function redisWords(problem: string | undefined): string {
  return `Redis isn't responding${problem === undefined ? '' : ` (${problem})`}`
}

/** A limit is no outage. If Lockkeeper did not send the probe, what was found before still holds. */
function accountFinding(error: unknown, before: Finding): Finding {
  if (!(error instanceof AccountLimitError)) return { problem: apiProblem(error) }
  const { answered, perMinute, waitMs: againMs } = error
  if (!answered && before.problem !== undefined) return { ...before, againMs }
  const at = new Date(Date.now() + againMs).toISOString()
  return { note: `Not checked, because of the account's limit of ${perMinute} reads a minute. A read is free at ${at}`, againMs }
}

function apiProblem(error: unknown): string {
  if (error instanceof ApiError && isKeyRefused(error)) return `The account API rejects ${error.key} (${error.status})`
  if (error instanceof ApiError) return `The account API returned an error (${error.status})`
  if (error instanceof ApiContractError) return `The account API returned something unreadable (${error.status})`
  return "The account API isn't responding"
}

function failOn(faults: string[]): void {
  if (faults.length > 0) throw new Error(faults.join(' '))
}

/** Describes the problem of something that is read from Redis, such as the state of the workers. It is unknown while Redis does not answer, or refuses. */
function unknownWithoutRedis(error: unknown): string {
  if (isMissingRight(error)) return 'Unknown while Redis refuses the command (NOPERM)'
  if (error instanceof StoreUnavailableError)
    return `Unknown while Redis ${writeRefusalOf(error.code) ? 'refuses writes' : "isn't responding"}`
  return error instanceof Error ? error.message : 'Unknown'
}
