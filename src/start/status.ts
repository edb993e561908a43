import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { App } from '../app.ts'
import { AccountLimitError, ApiContractError, ApiError, isKeyRefused, refusesWrites } from '../domain/errors.ts'
import { inLane } from '../domain/lane.ts'
import type { Request } from '../domain/request.ts'
import { createKeyring } from '../domain/signing.ts'
import { formatDuration } from '../domain/text.ts'
import { atMostEvery, type Check, shareRuns } from '../ops/health.ts'
import { guardStore } from '../redis/connect.ts'
import { clockAheadOfRedisMs, clockWrongMs, type RedisHealth, readRedisHealth } from '../redis/connections.ts'
import { claim } from '../redis/scripts.ts'
import { readEnds } from '../requests/key-ends.ts'
import { checkProgress } from '../requests/worker.ts'
import { maxOffSeconds } from '../slack/http-receiver.ts'

// However often `/status` is read. Each time spends a call of Slack or a read of the account. A monitor that reads the page every minute gets a new
// result each time.
const slackEveryMs = 30_000
const accountEveryMs = 50_000
const accountKeptMs = 10 * 60_000
/** The next try if no read was free. It costs none. */
const limitedMs = 5_000

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
    stateKey: whileStored(async () => {
      const keyring = createKeyring(config.signingSecrets, { purpose: 'requests', prefix: config.redis.prefix })
      const ofLastStart = await guardStore(() => app.redis.get(app.keys.signingKeyMark))
      if (ofLastStart !== null && !keyring.knows(ofLastStart))
        throw new Error(
          'The process that started last signs with a key that this one lacks. Give both the same STATE_KEY, and restart them',
        )
      const freeze = await app.freezes.read()
      if (freeze.isUnreadable)
        throw new Error('This process starts no change: it lacks the key with which the record of freezes is signed. Check STATE_KEY')
      return config.signingSecrets.length > 1 ? olderSignatures(app, keyring.isCurrent, freeze.text) : undefined
    }),
    accountApi: whileStored(createAccountCheck(app)),
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

/** What still needs a key of STATE_KEY that is not the first one. Undefined if nothing does. */
async function olderSignatures(app: App, isCurrent: (signature: string) => boolean, freeze: string): Promise<string | undefined> {
  const [{ requests }, { outdated }, { isOutdated }] = await Promise.all([app.store.findOpen(), readEnds(app), app.outside.read()])
  const signaturesOf = ({ signature, seenSignature, approvals, decision, startNow }: Request) =>
    [signature, seenSignature, decision?.signature, startNow?.signature, ...approvals.map((each) => each.signature)].flatMap(
      (one) => one ?? [],
    )
  const older = requests.filter((request) => !signaturesOf(request).every(isCurrent)).length
  // A sealed record begins with its signature.
  const others = Number(isOutdated ?? false) + Number(freeze !== '' && !app.recordKeyring.isCurrent(freeze))
  if (older + outdated.length + others === 0) return undefined
  const counts = `open requests ${older}, ends of keys ${outdated.length}, other records ${others}`
  return `Signed with an older key: ${counts}. Keep that key in STATE_KEY until all are 0`
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

/** `at`: by Redis' clock. */
const AccountCheck = z.object({
  at: z.number(),
  status: z.union([z.number(), z.enum(['unreachable', 'contract'])]),
  isKeyRefused: z.boolean().optional(),
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
    if (last && isProblem(last)) throw new Error(accountProblem(last))
    if (metrics.failing('account-api') !== undefined) await askForItself().catch(() => undefined)
    const status = metrics.failing('account-api')
    if (status !== undefined) throw new Error(accountProblem({ status }))
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
    return { status: error instanceof ApiContractError ? 'contract' : 'unreachable' }
  }
}

/** A limit is no problem. */
function isProblem({ status }: Answer): boolean {
  return status !== 200 && status !== 429
}

function accountProblem({ status, isKeyRefused: isRefused }: { status: number | string; isKeyRefused?: boolean }): string {
  if (isRefused) return `The account API rejects INFRA_API_KEY (${status})`
  if (status === 'contract') return 'The account API returned something unreadable'
  return status === 'unreachable' ? "The account API isn't responding" : `The account API returned an error (${status})`
}
