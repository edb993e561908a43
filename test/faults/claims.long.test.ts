import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { AuditNote } from '../../src/audit/chain.ts'
import { StoreUnavailableError, UserError } from '../../src/domain/errors.ts'
import { moveChange } from '../../src/moves/move-change.ts'
import { createScripts, readScripts } from '../../src/redis/scripts.ts'
import { createCatalog } from '../../src/requests/catalog.ts'
import { createStore } from '../../src/requests/store.ts'
import { fakeApp } from '../fake-app.ts'
import { auditWriting, trusting } from '../requests/audit-for-test.ts'
import { decideWith } from '../requests/decide-with.ts'
import { connectLossyRedis, connectTestRedis, noAudit } from '../requests/redis-for-test.ts'
import { minutes, recordRequest } from '../requests/request-for-test.ts'
import { signatures } from '../requests/signatures-for-test.ts'
import { type AblationName, ablated } from './ablations.ts'
import { createRandom } from './chaos.ts'

/** Four replicas claim the same requests while their connections break, so that commands are sent twice. Returns the winners of each. */
async function claim(trials: number, ablation?: AblationName) {
  const { redis: direct, keys } = connectTestRedis()
  const replicas = await Promise.all([0, 1, 2, 3].map(() => connectLossyRedis('patient')))
  const truth = createStore({ redis: direct, keys, audit: noAudit, signatures: trusting })
  const stores = replicas.map(({ redis }) => createStore({ redis, keys, audit: noAudit, signatures: trusting }))
  if (ablation) {
    const read = ablated(ablation, { readScripts }) as typeof readScripts
    const scripts = read(new URL('../../src/requests/store.ts', import.meta.url).href, ['take-step'])
    // The definition that comes last counts.
    for (const { redis } of replicas) createScripts(redis, scripts)
  }
  const winners: number[] = []
  for (let trial = 0; trial < trials; trial += 1) {
    const request = await recordRequest(truth, { resource: `elastic_ip:${trial}` })
    await truth.take(request, 'approve')
    const claims = stores.map(async (store, index) => {
      if ((trial + index) % 3 === 0) replicas[index]?.proxy.loseNextReply()
      return (await store.take(request, 'send', { dueInMs: 1_000 })).outcome === 'won'
    })
    winners.push((await Promise.all(claims)).filter(Boolean).length)
  }
  expect(replicas.reduce((sum, { proxy }) => sum + proxy.fired.lostReplies, 0)).toBeGreaterThan(10)
  return winners
}

test('exactly one of four replicas wins each claim, although answers are lost and commands are sent twice', async () => {
  expect(await claim(60)).toEqual(Array(60).fill(1))
})

test('ablation: with a plain SET NX nobody wins some claims, and the trial notices', async () => {
  expect(await claim(60, 'plain SET NX')).toContain(0)
})

test('one of two people who approve at the same moment through two replicas wins, each of 400 times, while 15 % of the answers are lost', async () => {
  const [trials, lanes] = [400, 8]
  const seed = Number(process.env.APPROVALS_SEED ?? Math.floor(Math.random() * 2 ** 31))
  const random = createRandom(seed)
  const { redis: direct, keys } = connectTestRedis()
  const audit = auditWriting((note) => JSON.stringify(note))
  const truth = createStore({ redis: direct, keys, audit, signatures: trusting })
  const counts = { none: 0, one: 0, more: 0, toldBoth: 0, toldWrong: 0 }
  let [begun, lostReplies, unavailable] = [0, 0, 0]

  async function startReplica() {
    const { redis, proxy } = await connectLossyRedis('prompt')
    proxy.loseRepliesIf(() => {
      const isLost = random() * 100 < 15
      if (isLost) lostReplies += 1
      return isLost
    })
    const store = createStore({ redis, keys, audit, signatures: trusting })
    const access = {
      authorize: async () => ({ rule: 'r', via: 'member' }),
      tally: async (_: unknown, by: string[]) => ({ enough: by.length > 0, missing: 0, needed: 1 }),
    }
    const catalog = createCatalog([moveChange({} as never)] as never)
    const around = { errors: { of: () => () => {} }, queues: { wake: async () => {} } }
    const app = fakeApp({ signatures, store, access: access as never, catalog, ...around })
    return { find: store.find, ...decideWith(app) }
  }

  /** Presses until an answer says what became of the request. */
  async function press(replica: Awaited<ReturnType<typeof startReplica>>, id: string, userId: string): Promise<'won' | 'refused'> {
    for (;;) {
      try {
        const request = await replica.find(id)
        if (!request) throw new Error('not recorded')
        await replica.approve(request, { channelId: 'C1', userId, command: '/infra' })
        return 'won'
      } catch (error) {
        if (error instanceof UserError && !(error instanceof StoreUnavailableError)) return 'refused'
        if (!(error instanceof StoreUnavailableError)) throw error
        unavailable += 1
        await delay(50)
      }
    }
  }

  async function runLane(): Promise<void> {
    const replicas = await Promise.all([startReplica(), startReplica()])
    while (begun < trials) {
      begun += 1
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
  }

  await Promise.all(Array.from({ length: lanes }, runLane))

  console.log(JSON.stringify({ APPROVALS_SEED: seed, lostReplies, unavailable, ...counts }))
  expect(lostReplies).toBeGreaterThan(200)
  expect(counts).toEqual({ none: 0, one: trials, more: 0, toldBoth: 0, toldWrong: 0 })
  const notes = (await direct.xrange(keys.auditIntake, '-', '+')).map(([, [, note = '{}']]) => JSON.parse(note) as AuditNote)
  expect(notes.filter(({ act }) => act === 'approve')).toHaveLength(trials)
})
