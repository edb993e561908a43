import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { App } from '../app.ts'
import { AccountLimitError, ApiContractError, ApiError, isKeyRefused, refusesWrites } from '../domain/errors.ts'
import { inLane } from '../domain/lane.ts'
import { atMostEvery, type Check, shareRuns } from '../ops/health.ts'
import { type RedisHealth, readRedisHealth } from '../redis/check.ts'
import { guardStore } from '../redis/connect.ts'
import { claim } from '../redis/scripts.ts'
import { checkProgress } from '../requests/worker.ts'

/** While Slack answers it is asked at most this often, however often `/status` is read. */
const slackEveryMs = 30_000
/** How long what one process found of the account holds for all. */
const findingMs = 60_000
/** Longer than a reading takes. If its process dies, another one reads. */
const readingMs = 5_000

/**
 * The checks of `/status`: the same readings, each as a sentence for operators, without details of a failed call, which can be secret.
 */
export function statusChecks(app: App) {
  const { connections, slack, config } = app
  const health = shareRuns(() => readRedisHealth(app))
  const readFinding = sharedFinding(app)

  /** Runs a check of what is known only while Redis answers and stores. */
  const whileStored =
    <T>(run: (found: RedisHealth) => Promise<T>) =>
    async () => {
      const found = await health()
      const why = notStored(found)
      if (why) throw new Error(`Unknown while ${why}`)
      return run(found)
    }

  return {
    redis: async () => {
      const found = await health()
      const problem = found.is === 'silent' ? connections.problem() : undefined
      if (found.is === 'refuses-writes') throw new Error(refusesWrites(found.refusal))
      if (notStored(found)) throw new Error(`${notStored(found)}${problem ? ` (${problem})` : ''}`)
    },
    redisSettings: whileStored(async (found) => {
      if (found.is === 'unsafe' && !config.redis.allowVolatile) throw new Error(found.faults.map(({ words }) => words).join(' '))
    }),
    slack: atMostEvery(slackEveryMs, async () => void (await slack.identity.fetch())),
    accountApi: whileStored(async () => {
      const { problem, note } = await readFinding()
      if (problem) throw new Error(problem)
      return note
    }),
    worker: whileStored(() => checkProgress(app)),
  } satisfies Record<string, Check>
}

function notStored({ is }: RedisHealth): string | undefined {
  if (is === 'silent') return "Redis isn't responding"
  if (is === 'lacks-right') return 'Redis refuses the command (NOPERM)'
  return is === 'refuses-writes' ? 'Redis refuses writes' : undefined
}

const StoredFinding = z.object({ problem: z.string().optional(), note: z.string().optional() })
type StoredFinding = z.infer<typeof StoredFinding>

/** One process asks the account in a minute, and tells the others what it found, because each time spends a read. */
function sharedFinding(app: App): () => Promise<StoredFinding> {
  const { redis, keys, config } = app
  const names = keys.accountProbe(config.infra.key ? 'key' : 'read-key')
  let last: StoredFinding = {}

  return async function readFinding(): Promise<StoredFinding> {
    const stored = await guardStore(() => redis.get(names.finding))
    if (stored !== null) last = StoredFinding.parse(JSON.parse(stored))
    else if ((await claim(redis, names.claim, { token: randomUUID(), lastsMs: readingMs })) === undefined) {
      const { againMs, ...found } = await findProblem(app, last)
      last = found
      await guardStore(() => redis.set(names.finding, JSON.stringify(found), 'PX', Math.max(1_000, Math.min(againMs, findingMs))))
    }
    return last
  }
}

/** `againMs`: when to ask again. A limit is no outage: if nothing was asked, what was found before still holds. */
async function findProblem({ account }: App, before: StoredFinding): Promise<StoredFinding & { againMs: number }> {
  try {
    await inLane('background', () => account.apiKeys.list({ signal: AbortSignal.timeout(1_900) }))
    return { againMs: findingMs }
  } catch (error) {
    if (!(error instanceof AccountLimitError)) return { problem: accountProblem(error), againMs: findingMs }
    const { answered, perMinute, waitMs: againMs } = error
    if (!answered && before.problem !== undefined) return { ...before, againMs }
    const at = new Date(Date.now() + againMs).toISOString()
    return { note: `Not checked, because of the account's limit of ${perMinute} reads a minute. A read is free at ${at}`, againMs }
  }
}

function accountProblem(error: unknown): string {
  if (error instanceof ApiError && isKeyRefused(error)) return `The account API rejects ${error.key} (${error.status})`
  if (error instanceof ApiError) return `The account API returned an error (${error.status})`
  if (error instanceof ApiContractError) return `The account API returned something unreadable (${error.status})`
  return "The account API isn't responding"
}
