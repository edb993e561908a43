import type { App } from '../app.ts'
import { AccountLimitError, ApiContractError, ApiError, isKeyRefused, refusesWrites } from '../domain/errors.ts'
import { inLane } from '../domain/lane.ts'
import { formatDuration } from '../domain/text.ts'
import { atMostEvery, type Check, shareRuns } from '../ops/health.ts'
import { clockAheadOfRedisMs, clockWrongMs, type RedisHealth, readRedisHealth } from '../redis/connections.ts'
import { checkProgress } from '../requests/worker.ts'
import { maxOffSeconds } from '../slack/http-receiver.ts'

// However often `/status` is read. Each time spends a call of Slack or a read of the account. A monitor that reads the page every minute gets a new
// result each time.
const slackEveryMs = 30_000
const accountEveryMs = 50_000

/** Sentences for operators, without details of a failed call, which can be secret. */
export function statusChecks(app: App) {
  const { connections, slack, config } = app
  const health = shareRuns(() => readRedisHealth(app))

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
        throw new Error('The last request that named this workspace had a wrong signature. Check SLACK_SIGNING_SECRET')
    },
    accountApi: whileStored(createAccountCheck(app)),
    worker: whileStored(() => checkProgress(app)),
    clock: whileStored(async () => {
      const aheadMs = await clockAheadOfRedisMs(app)
      if (Math.abs(aheadMs) < clockWrongMs) return
      throw new Error(`The clock of this machine is ${clockWords(aheadMs)} Redis. Check NTP on both`)
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

/** Each process asks for itself, and knows how its own calls ended. */
function createAccountCheck(app: App): Check {
  const ask = atMostEvery(accountEveryMs, () => askAccount(app))

  return async () => {
    const asked = await ask().catch(() => undefined)
    const status = app.metrics.failing('account-api')
    const problem = asked?.problem ?? (status === undefined ? undefined : accountProblem(status))
    if (problem !== undefined) throw new Error(problem)
    return asked ? undefined : 'Not checked: no read was free'
  }
}

/** A limit is no problem. Throws an AccountLimitError if no read was free: then the account API was not asked. */
async function askAccount({ account }: App): Promise<{ problem?: string }> {
  try {
    await inLane('background', () => account.apiKeys.list({ signal: AbortSignal.timeout(1_500), tries: 1 }))
    return {}
  } catch (error) {
    if (error instanceof AccountLimitError && !error.answered) throw error
    if (error instanceof AccountLimitError) return {}
    if (!(error instanceof ApiError)) return { problem: accountProblem(error instanceof ApiContractError ? 'contract' : 'unreachable') }
    return { problem: isKeyRefused(error) ? `The account API rejects ${error.key} (${error.status})` : accountProblem(error.status) }
  }
}

function accountProblem(status: number | string): string {
  if (status === 'contract') return 'The account API returned something unreadable'
  return status === 'unreachable' ? "The account API isn't responding" : `The account API returned an error (${status})`
}
