import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { AuditNote } from '../../src/audit/chain.ts'
import { StoreUnavailableError, UserError } from '../../src/domain/errors.ts'
import { Secret } from '../../src/domain/signing.ts'
import { moveChange } from '../../src/moves/move-change.ts'
import { connectRedis } from '../../src/redis/connect.ts'
import { createKeys } from '../../src/redis/key-names.ts'
import { createCatalog } from '../../src/requests/catalog.ts'
import { decideWith } from '../../src/requests/decide.ts'
import { createStore } from '../../src/requests/store.ts'
import { fakeApp } from '../fake-app.ts'
import { auditWriting, trusting } from '../requests/audit-for-test.ts'
import { minutes, recordRequest } from '../requests/request-for-test.ts'
import { signatures } from '../requests/signatures-for-test.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import { createRandom } from './random.ts'
import { startTcpProxy } from './tcp-proxy.ts'

/**
 * Two people approve the same request at the same moment, each through a replica that loses a share of Redis' answers. Each presses again
 * as long as Redis cannot be reached. Prints how many requests had no winner, one, or more.
 */
const [trials = 0, lossPercent = 0, seed = 0] = process.argv.slice(2).map(Number)
/** Trials that run in parallel, each with its own two replicas. */
const lanes = 8
const random = createRandom(seed)
const server = await startRedis()
const keys = createKeys(`approvals-${randomBytes(4).toString('hex')}`)
const noMoves = {} as never
const catalog = createCatalog([moveChange(noMoves)] as never)
const audit = auditWriting((note) => JSON.stringify(note))
const direct = connectRedis(new Secret(server.url), 'patient', () => {})
const truth = createStore({ redis: direct, keys, audit, signatures: trusting })
const counts = { none: 0, one: 0, more: 0, toldBoth: 0, toldWrong: 0, unavailable: 0 }
let begun = 0
const proxies: Awaited<ReturnType<typeof startTcpProxy>>[] = []

async function startReplica() {
  const proxy = await startTcpProxy({ port: server.port })
  proxies.push(proxy)
  const address = new URL(server.url)
  address.port = String(proxy.port)
  const redis = connectRedis(new Secret(address.href), 'prompt', () => {})
  await new Promise<void>((resolve) => redis.once('ready', () => resolve()))
  proxy.loseRepliesIf(() => random() * 100 < lossPercent)
  const access = {
    authorize: async () => ({ rule: 'r', via: 'member' }),
    tally: async (_: unknown, by: string[]) => ({ enough: by.length > 0, missing: 0, needed: 1 }),
  }
  const store = createStore({ redis, keys, audit, signatures: trusting })
  const app = fakeApp({
    signatures,
    store,
    access: access as never,
    catalog,
    show: (async () => undefined) as never,
    errors: { of: () => () => {} },
    wake: async () => undefined,
  })
  return { find: store.find, ...decideWith(app) }
}
type Replica = Awaited<ReturnType<typeof startReplica>>

/** Presses until an answer says what became of the request. */
async function press(replica: Replica, id: string, userId: string): Promise<'won' | 'refused'> {
  for (;;) {
    try {
      const request = await replica.find(id)
      if (!request) throw new Error('not recorded')
      await replica.approve(request, { channelId: 'C1', userId, command: '/infra' })
      return 'won'
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) {
        if (error instanceof UserError) return 'refused'
        throw error
      }
      counts.unavailable += 1
      await delay(50)
    }
  }
}

async function runTrial(replicas: Replica[]): Promise<void> {
  const { id } = await recordRequest(truth, { resource: `elastic_ip:${begun}`, ttlMs: 10 * minutes })
  const outcomes = await Promise.all(replicas.map((replica, index) => press(replica, id, `U${index + 2}`)))

  const request = await truth.find(id)
  const tokens = Object.keys(await direct.hgetall(keys.record(id))).filter((name) => name.startsWith('token:approve'))
  const won = outcomes.flatMap((outcome, index) => (outcome === 'won' ? [`U${index + 2}`] : []))
  if (request?.state !== 'approved' || request.approvals.length === 0) counts.none += 1
  else if (request.approvals.length === 1 && tokens.length === 1) counts.one += 1
  else counts.more += 1
  if (won.length > 1) counts.toldBoth += 1
  if (won.some((userId) => userId !== request?.decision?.by)) counts.toldWrong += 1
}

async function runLane(): Promise<void> {
  const replicas = await Promise.all([startReplica(), startReplica()])
  while (begun < trials) {
    begun += 1
    await runTrial(replicas)
  }
}

await Promise.all(Array.from({ length: lanes }, runLane))
const notes = (await direct.xrange(keys.auditIntake, '-', '+')).map(([, [, note = '{}']]) => JSON.parse(note) as AuditNote)
const approvalsNoted = notes.filter(({ act }) => act === 'approve').length
const lostReplies = proxies.reduce((sum, { fired }) => sum + fired.lostReplies, 0)
process.stdout.write(`${JSON.stringify({ trials, lostReplies, ...counts, approvalsNoted })}\n`)
// Connections that are closing do not keep this process alive.
setInterval(() => {}, 1_000)
await server.stop()
process.exit(0)
