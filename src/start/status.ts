import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { App } from '../app.ts'
import { type CallEnd, judgeCall, keyRefused } from '../checks/account.ts'
import { type Found, plainWords } from '../checks/check.ts'
import { freezeOfOtherKey, judgeClock, judgeRedis, judgeStateKey, judgeWorkers, readStateKey, readWorkers } from '../checks/redis.ts'
import { AccountLimitError, ApiContractError, ApiError, ApiUnreachableError, isKeyRefused } from '../domain/errors.ts'
import { inLane } from '../domain/lane.ts'
import type { Request } from '../domain/request.ts'
import { createKeyring } from '../domain/signing.ts'
import { formatDuration } from '../domain/text.ts'
import { abilities } from '../features/index.ts'
import { workerSilenceMs } from '../life/self-checks.ts'
import { atMostEvery, type Check, CheckProblem, shareRuns } from '../ops/health.ts'
import { guardStore } from '../redis/connect.ts'
import { clockAheadOfRedisMs, type RedisHealth, readRedisHealth } from '../redis/connections.ts'
import { claim } from '../redis/scripts.ts'
import { maxOffSeconds } from '../slack/http-receiver.ts'

// However often `/status` is read. Each time spends a call of Slack or a read of the account. A monitor that reads the page every minute gets a new
// result each time.
const slackEveryMs = 30_000
const accountEveryMs = 50_000
const accountKeptMs = 10 * 60_000
/** The next try if no read was free. It costs none. */
const limitedMs = 5_000

/** Throws what a check of the doctor finds, in its words. */
function requireRight(found: Found | undefined): void {
  if (found?.is === 'wrong') throw new CheckProblem(plainWords(found))
}

/** Sentences for operators, without details of a failed call, which can be secret. */
export function statusChecks(app: App) {
  const { slack, config } = app
  const health = shareRuns(() => readRedisHealth(app))
  const isStoring = ({ is }: RedisHealth) => is === 'safe' || is === 'unsafe'

  /** Runs a check of what is known only while Redis answers and stores. */
  const whileStored =
    <T>(run: (found: RedisHealth) => Promise<T>) =>
    async () => {
      const found = await health()
      if (!isStoring(found)) throw new Error('Unknown while the check of Redis fails')
      return run(found)
    }

  return {
    redis: async () => {
      const found = await health()
      if (!isStoring(found)) requireRight(judgeRedis(found))
    },
    redisSettings: whileStored(async (found) => {
      if (!config.redis.allowVolatile) requireRight(judgeRedis(found))
    }),
    slack: atMostEvery(slackEveryMs, async () => void (await slack.identity.fetch())),
    slackSignature: async () => {
      if (slack.signature.isWrong)
        throw new Error('The last request that named this workspace had a wrong signature. Check SLACK_SIGNING_SECRET')
    },
    stateKey: whileStored(async () => {
      requireRight(judgeStateKey(await readStateKey(app)))
      const freeze = await app.freezes.read()
      if (freeze.isUnreadable) requireRight(freezeOfOtherKey)
      const keyring = createKeyring(config.signingSecrets, { purpose: 'requests', prefix: config.redis.prefix })
      return config.signingSecrets.length > 1 ? olderSignatures(app, keyring.isCurrent, freeze.text) : undefined
    }),
    accountApi: whileStored(createAccountCheck(app)),
    worker: whileStored(async () => requireRight(judgeWorkers(await readProgress(app)))),
    clock: whileStored(async () => requireRight(judgeClock(await clockAheadOfRedisMs(app), 'Redis'))),
  } satisfies Record<string, Check>
}

/** Only what is long overdue counts, because the first tick after a pause takes a moment. A worker that hangs may still report that it runs. */
export async function readProgress(app: Pick<App, 'store' | 'queues'>) {
  const overdueMs = Math.max(workerSilenceMs, app.queues.pollIntervalMs * 6)
  const read = await readWorkers(app, { overdueMs, silenceMs: workerSilenceMs })
  return { ...read, overdue: read.overdue && read.lastTickMs > overdueMs }
}

/** What still needs a key of STATE_KEY that is not the first one. Undefined if nothing does. */
async function olderSignatures(app: App, isCurrent: (signature: string) => boolean, freeze: string): Promise<string | undefined> {
  const [{ requests }, ...outdated] = await Promise.all([
    app.store.findOpen(),
    ...abilities.flatMap((ability) => ability.outdated?.(app) ?? []),
  ])
  const signaturesOf = ({ signature, seenSignature, approvals, decision, startNow }: Request) =>
    [signature, seenSignature, decision?.signature, startNow?.signature, ...approvals.map((each) => each.signature)].flatMap(
      (one) => one ?? [],
    )
  const older = requests.filter((request) => !signaturesOf(request).every(isCurrent)).length
  // A sealed record begins with its signature.
  const others = Number(freeze !== '' && !app.recordKeyring.isCurrent(freeze))
  const counts = new Map<string, number>()
  for (const { what, count } of [{ what: 'open requests', count: older }, ...outdated, { what: 'other records', count: others }])
    counts.set(what, (counts.get(what) ?? 0) + count)
  if ([...counts.values()].every((count) => count === 0)) return undefined
  return `Signed with an older key: ${[...counts].map((each) => each.join(' ')).join(', ')}. Keep that key in STATE_KEY until all are 0`
}

const mostOffMs = maxOffSeconds * 1_000

/** Only signatures of requests over HTTP have a time. */
function refusesByClock({ config: { role, slack } }: App): boolean {
  return role !== 'worker' && slack.appToken === undefined
}

/** Returns why Slack's requests are refused by their time. If Slack does not confirm it, the clock of Redis is wrong, for all replicas. */
export async function clockProblem(app: App): Promise<string | undefined> {
  const isOff = (aheadMs: number | undefined) => aheadMs !== undefined && Math.abs(aheadMs) > mostOffMs
  if (!refusesByClock(app) || !isOff(await clockAheadOfRedisMs(app).catch(() => undefined))) return undefined
  const aheadMs = await app.slack.probe.clockAheadMs(AbortSignal.timeout(1_000)).catch(() => undefined)
  return isOff(aheadMs) ? plainWords(judgeClock(aheadMs, 'Slack')) : undefined
}

/** `at`: by Redis' clock. */
const AccountCheck = z.object({
  at: z.number(),
  status: z.union([z.number(), z.enum(['unreachable', 'contract'])]),
  isKeyRefused: z.boolean().optional(),
  /** Of the connection. */
  problem: z.string().optional(),
})
type Answer = Omit<z.infer<typeof AccountCheck>, 'at'>

/** Whichever process is asked first asks the account API, for all. Each also knows how its own calls ended. */
function createAccountCheck(app: App): Check {
  const { keys, store, metrics } = app
  const { found, turn } = keys.accountCheck
  let notedAt = 0
  const askForItself = atMostEvery(accountEveryMs, () => askAccount(app))

  async function askForAll(): Promise<void> {
    const answer = await askAccount(app).catch(() => undefined)
    if (!answer) return void (await guardStore(() => app.redis.pexpire(turn, limitedMs)))
    const text = JSON.stringify({ ...answer, at: await store.now() })
    await guardStore(() => app.redis.set(found, text, 'PX', accountKeptMs))
  }

  return async () => {
    if ((await claim(app.redis, turn, { token: randomUUID(), lastsMs: accountEveryMs })) === undefined) await askForAll()
    const [text, now] = await Promise.all([guardStore(() => app.redis.get(found)), store.now()])
    const last = text === null ? undefined : AccountCheck.parse(JSON.parse(text))
    if (last && last.at !== notedAt) metrics.checkedElsewhere('account-api', last.status)
    notedAt = last?.at ?? 0
    if (last) requireAccount(last)
    if (metrics.failing('account-api') !== undefined) await askForItself().catch(() => undefined)
    const status = metrics.failing('account-api')
    if (status !== undefined) requireAccount({ status: status as CallEnd })
    if (!last) return `Not checked in the last ${formatDuration(accountKeptMs)}`
    return now - last.at > 60_000 ? `Not checked for ${formatDuration(now - last.at)}` : undefined
  }
}

/** Throws an AccountLimitError if no read was free: then the account API was not asked. */
async function askAccount({ account }: App): Promise<Answer> {
  try {
    await inLane('background', () => account.apiKeys.list({ signal: AbortSignal.timeout(1_500), tries: 1 }))
    return { status: 200 }
  } catch (error) {
    if (error instanceof AccountLimitError && !error.answered) throw error
    if (error instanceof AccountLimitError) return { status: 429 }
    if (error instanceof ApiError) return { status: error.status, isKeyRefused: isKeyRefused(error) }
    if (error instanceof ApiContractError) return { status: 'contract' }
    return { status: 'unreachable', problem: error instanceof ApiUnreachableError ? error.problem : undefined }
  }
}

/** A limit is no problem. */
function requireAccount({ status, isKeyRefused: isRefused, problem }: Answer): void {
  if (isRefused && typeof status === 'number') requireRight(keyRefused(status))
  if (status !== 429) requireRight(judgeCall(status, problem))
}
