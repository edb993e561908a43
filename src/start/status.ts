import type { App } from '../app.ts'
import { AccountLimitError, ApiContractError, ApiError, isKeyRefused, refusesWrites } from '../domain/errors.ts'
import { inLane } from '../domain/lane.ts'
import { formatDuration } from '../domain/text.ts'
import { atMostEvery, type Check, shareRuns } from '../ops/health.ts'
import { clockAheadOfRedisMs, clockWrongMs, type RedisHealth, readRedisHealth } from '../redis/connections.ts'
import { checkProgress } from '../requests/worker.ts'
import { maxOffSeconds } from '../slack/http-receiver.ts'

// However often `/status` is read. Each time spends a call of Slack or a read of the account.
const slackEveryMs = 30_000
const accountEveryMs = 60_000

/** Sentences for operators, without details of a failed call, which can be secret. */
export function statusChecks(app: App) {
  const { connections, slack, config } = app
  const health = shareRuns(() => readRedisHealth(app))
  let found: Finding = {}
  const findProblem = atMostEvery(accountEveryMs, async () => {
    found = await readAccount(app, found)
    return found
  })

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
    slackSignature: async () => {
      if (slack.signature.isWrong)
        throw new Error('The last request from Slack was refused, because SLACK_SIGNING_SECRET is not that of the app')
    },
    accountApi: whileStored(async () => {
      const { problem, note } = await findProblem()
      if (problem) throw new Error(problem)
      return note
    }),
    worker: whileStored(() => checkProgress(app)),
    clock: whileStored(async () => {
      const aheadMs = await clockAheadOfRedisMs(app)
      if (Math.abs(aheadMs) < clockWrongMs) return
      const effect = refusesByClock(app)
        ? `From ${formatDuration(mostOffMs)}, requests from Slack are refused`
        : 'Deadlines use the clock of Redis'
      throw new Error(`The clock of this machine is ${clockWords(aheadMs)} Redis. ${effect}. Check NTP on both`)
    }),
  } satisfies Record<string, Check>
}

const mostOffMs = maxOffSeconds * 1_000

/** Only signatures of requests over HTTP have a time. */
function refusesByClock({ config: { role, slack } }: App): boolean {
  return role !== 'worker' && slack.appToken === undefined
}

function clockWords(aheadMs: number): string {
  return `${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'}`
}

/** Returns why Slack's requests are refused by their time. If Slack does not confirm it, the clock of Redis is wrong, for all replicas. */
export async function clockProblem(app: App): Promise<string | undefined> {
  const isOff = (aheadMs: number | undefined) => aheadMs !== undefined && Math.abs(aheadMs) > mostOffMs
  if (!refusesByClock(app) || !isOff(await clockAheadOfRedisMs(app).catch(() => undefined))) return undefined
  const aheadMs = await app.slack.probe.clockAheadMs(AbortSignal.timeout(1_000)).catch(() => undefined)
  return isOff(aheadMs) ? `the clock is ${clockWords(aheadMs ?? 0)} Slack, so requests from Slack are refused` : undefined
}

function notStored({ is }: RedisHealth): string | undefined {
  if (is === 'silent') return "Redis isn't responding"
  if (is === 'lacks-right') return 'Redis refuses the command (NOPERM)'
  return is === 'refuses-writes' ? 'Redis refuses writes' : undefined
}

interface Finding {
  problem?: string
  note?: string
}

/** A limit is no outage: if nothing was asked, what was found before still holds. */
async function readAccount({ account }: App, before: Finding): Promise<Finding> {
  try {
    await inLane('background', () => account.apiKeys.list({ signal: AbortSignal.timeout(1_900) }))
    return {}
  } catch (error) {
    if (!(error instanceof AccountLimitError)) return { problem: accountProblem(error) }
    const { answered, perMinute, waitMs } = error
    if (!answered && before.problem !== undefined) return before
    const at = new Date(Date.now() + waitMs).toISOString()
    return { note: `Not checked, because of the account's limit of ${perMinute} reads a minute. A read is free at ${at}` }
  }
}

function accountProblem(error: unknown): string {
  if (error instanceof ApiError && isKeyRefused(error)) return `The account API rejects ${error.key} (${error.status})`
  if (error instanceof ApiError) return `The account API returned an error (${error.status})`
  if (error instanceof ApiContractError) return `The account API returned something unreadable (${error.status})`
  return "The account API isn't responding"
}
