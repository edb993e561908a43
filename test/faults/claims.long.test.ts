import { expect, test } from 'vitest'
import type { AuditNote } from '../../src/audit/chain.ts'
import { createStore } from '../../src/record/store.ts'
import { readScripts } from '../../src/redis/scripts.ts'
import { auditWriting, trusting } from '../given/audit.ts'
import { connectLossyRedis, connectTestRedis } from '../given/redis.ts'
import { minutes, recordRequest } from '../given/request.ts'
import { type AblationName, ablated } from './ablations.ts'
import { createRandom } from './chaos.ts'

interface Contest {
  trials: number
  replicas: number
  /** How many contests go on at the same time. */
  lanes?: number
  step: 'approve' | 'send'
  /** The share of Redis' answers that are lost, with their connections, so that commands are sent twice. */
  lost: number
  ablation?: AblationName
}

/** Lets replicas take the same steps at the same moments. Returns the winners of each trial, and how often the audit has the step. */
async function contest({ trials, replicas, lanes = 1, step, lost, ablation }: Contest) {
  const seed = Number(process.env.CLAIMS_SEED ?? Math.floor(Math.random() * 2 ** 31))
  const random = createRandom(seed)
  const { redis: direct, keys } = connectTestRedis()
  const audit = auditWriting((note) => JSON.stringify(note))
  const truth = createStore({ redis: direct, keys, audit, signatures: trusting })
  const winners: string[][] = []
  let [begun, lostReplies] = [0, 0]

  async function startReplica() {
    const { redis, proxy } = await connectLossyRedis('patient')
    const store = createStore({ redis, keys, audit, signatures: trusting })
    if (ablation) {
      const read = ablated(ablation, { readScripts }) as typeof readScripts
      // A script that is defined is not defined again.
      const scripts = read(new URL('../../src/record/store.ts', import.meta.url).href, ['take-step'])
      for (const [name, lua] of scripts) redis.defineCommand(`lockkeeper:${name}`, { lua })
    }
    proxy.loseRepliesIf(() => {
      const isLost = random() < lost
      if (isLost) lostReplies += 1
      return isLost
    })
    return store
  }

  async function runLane(): Promise<void> {
    const stores = await Promise.all(Array.from({ length: replicas }, startReplica))
    while (begun < trials) {
      begun += 1
      const request = await recordRequest(truth, { resource: `elastic_ip:${begun}`, ttlMs: 10 * minutes })
      if (step === 'send') await truth.take(request, 'approve')
      const outcomes = await Promise.all(
        stores.map(async (store, index) => {
          const by = `U${index}`
          const { outcome } = await store.take(request, step, { dueInMs: 1_000, set: { decision: { by, rule: 'r', via: by } } })
          return outcome === 'won' ? [by] : []
        }),
      )
      const { decision } = (await truth.find(request.id)) ?? expect.fail('the record is gone')
      const won = outcomes.flat()
      // The person whose answer says that they won is the one in the record.
      winners.push(won.length === 1 && decision?.by !== won[0] ? ['another one'] : won)
    }
  }

  await Promise.all(Array.from({ length: lanes }, runLane))
  console.log(JSON.stringify({ CLAIMS_SEED: seed, step, lostReplies }))
  expect(lostReplies).toBeGreaterThan(trials / 10)
  const notes = (await direct.xrange(keys.auditIntake, '-', '+')).map(([, [, note = '{}']]) => JSON.parse(note) as AuditNote)
  return { winners, noted: notes.filter(({ act }) => act === step).length }
}

test.each<Contest>([
  { trials: 60, replicas: 4, step: 'send', lost: 0.2 },
  { trials: 400, replicas: 2, lanes: 8, step: 'approve', lost: 0.15 },
])(
  'of $replicas replicas that $step at the same moment, one wins, each of $trials times, while $lost of the answers are lost',
  async (each) => {
    const { winners, noted } = await contest(each)

    expect(winners.map(({ length }) => length)).toEqual(Array(each.trials).fill(1))
    expect(winners.flat()).not.toContain('another one')
    expect(noted).toBe(each.trials)
  },
)

test('ablation: with a plain SET NX nobody wins some claims, and the trial notices', async () => {
  const { winners } = await contest({ trials: 60, replicas: 4, step: 'send', lost: 0.2, ablation: 'plain SET NX' })

  expect(winners).toContainEqual([])
})
