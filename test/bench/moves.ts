import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { payloadHash } from '../../src/domain/request.ts'
import { createStore } from '../../src/record/store.ts'
import { createKeys } from '../../src/redis/key-names.ts'
import { manyElasticIps, places } from '../faults/many-elastic-ips.ts'
import { auditWriting, trusting } from '../given/audit.ts'
import { signaturesOfBot, signedBy } from '../given/signatures.ts'
import { takeSteps } from '../given/take-steps.ts'
import type { ElasticIpState } from '../sandbox/account-api/data.ts'
import { startAccountApi } from '../sandbox/account-api/start-account-api.ts'
import { botProgram, botVariables } from '../sandbox/bot-process.ts'
import { startSlack } from '../sandbox/slack/start-slack.ts'
import { watchReports } from './limits.ts'
import { type Effort, fixed, judged, median, startProgram, table, withRedis } from './measure.ts'

const intervalMs = 5_000
const raisedLimits = { INFRA_READS_PER_MINUTE: '6000', INFRA_WRITES_PER_MINUTE: '2000', MOVE_POLL_BUDGET: '3000' }

interface Moves {
  count: number
  firstEndMs: number
  endingMs: number
}

interface Figures {
  looks: number
  requests: number
  /** Those that read one Elastic IP. */
  single: number
  reportedP50: number
  reportedP99: number
  reported: number
}

/** Measures how many requests 1,000 moves under way take with raised limits, and how soon their ends are reported. */
export async function benchMoves({ quick }: Effort): Promise<string> {
  const count = quick ? 20 : 1_000
  const moves = { count, firstEndMs: quick ? 1_000 : 20_000, endingMs: quick ? 1_000 : 20_000 }
  const rounds: Figures[] = []
  for (let round = 0; round < (quick ? 1 : 2); round += 1) rounds.push(await withRedis(({ url }) => measure(moves, url)))
  const reported = Math.min(...rounds.map((figures) => figures.reported))
  const row = (name: string, digits: number, most: number | undefined, figure: (figures: Figures) => number) => {
    const value = median(rounds.map(figure))
    return [name, fixed(value, digits), ...judged(value, most)]
  }
  const rows = [
    row('looks at the account', 0, undefined, ({ looks }) => looks),
    row('requests to the account API, a look', 1, 1.1 * Math.ceil(count / 100), ({ looks, requests }) => requests / looks),
    row('… of them for a single Elastic IP', 1, undefined, ({ looks, single }) => single / looks),
    row('reported after the end, p50, ms', 0, undefined, ({ reportedP50 }) => reportedP50),
    row('reported after the end, p99, ms', 0, intervalMs + 1_000, ({ reportedP99 }) => reportedP99),
    ['reported, the least of all rounds', `${reported}`, `${count}`, reported === count ? 'met' : 'missed'],
  ]
  return table([`${count} moves, an interval of ${intervalMs / 1_000} s`, 'Lockkeeper', 'target', ''], rows)
}

/** The moves start at once, and end one after the other, from `firstEndMs` on and within `endingMs`. */
async function measure({ count, firstEndMs, endingMs }: Moves, redisUrl: string): Promise<Figures> {
  const admin = new Redis(redisUrl)
  const slack = await startSlack({ keepAnswers: false })
  const elasticIps = manyElasticIps(count)
  const account = await startAccountApi({ data: { elasticIps }, movePhases: [{ server: 'target' }] })
  const variables = {
    ...botVariables({ slack, accountApi: account, redisUrl }),
    ...raisedLimits,
    MOVE_POLL_INTERVAL: `${intervalMs}ms`,
  }
  await recordMoves(admin, variables, elasticIps)
  for (const [index, { id }] of elasticIps.entries()) {
    account.world.nextMove({ takesMs: firstEndMs + (index / count) * endingMs })
    account.world.startMove(id, places.to)
  }
  const endsAt = new Map(elasticIps.map(({ address, move }) => [address, move?.endsAt ?? Number.NaN]))
  const reportedAfterMs = watchReports(slack, endsAt)
  const bot = await startProgram(botProgram('main'), 'slackPort', { env: variables })
  const deadline = Date.now() + firstEndMs + endingMs + 60_000
  while (reportedAfterMs.length < count && Date.now() < deadline) await delay(200)
  // With a filter, the list is read once at the start, for what may have been lost.
  const reads = account.journal.filter(({ path, query }) => path.startsWith('/elastic_ips') && !('filter[status]' in query))
  bot.stop()
  admin.disconnect()
  await Promise.all([slack.close(), account.close()])

  const sorted = reportedAfterMs.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return {
    looks: reads.filter(({ path, query }) => path === '/elastic_ips' && (query['page[number]'] ?? '1') === '1').length,
    requests: reads.length,
    single: reads.filter(({ path }) => path !== '/elastic_ips').length,
    reportedP50: at(0.5),
    reportedP99: at(0.99),
    reported: sorted.length,
  }
}

/** Records a request for the move of each of them, approved, accepted and under way, as the bot with these variables would have recorded it. */
async function recordMoves(redis: Redis, variables: Parameters<typeof signaturesOfBot>[0], elasticIps: ElasticIpState[]): Promise<void> {
  const keys = createKeys(variables.REDIS_PREFIX)
  const signatures = signaturesOfBot(variables)
  const store = createStore({ redis, keys, audit: auditWriting(() => '{"act":"bench"}'), signatures: trusting })
  for (const [index, { id: elasticIpId, address }] of elasticIps.entries()) {
    const requested = {
      id: String(index).padStart(32, '0'),
      kind: 'ip.move' as const,
      input: { elasticIpId, serverId: places.to },
      facts: { elasticIpId, address, from: { id: places.from, name: 'web-1' }, to: { id: places.to, name: 'web-2' } },
      resource: `elastic_ip:${elasticIpId}`,
      unchecked: [],
      origin: { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' },
    }
    const decided = { rule: 'APPROVERS', needsApproval: true, approvalsNeeded: 1, ttlMs: 3_600_000, createdAt: Date.now() }
    await store.create(signedBy(signatures, { ...requested, ...decided, hash: payloadHash(requested), signature: '' }))
    await takeSteps(store, requested.id, 'approve', 'send', ['accept', { dueInMs: 0 }])
  }
  await redis.del(keys.auditIntake)
}
