import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { onRack, requestEvacuation, untilItem } from './evacuations.ts'
import { brokenPromises } from './invariants.ts'
import { approveWhileKilled, aroundEach, endMoves, killAtEach, type Moment } from './kills.ts'
import { type Scene, type SceneOptions, startScene } from './scene.ts'
import { untilTrue } from './until-true.ts'

/** Longer than half of the time for which the reads before the first write allow it. */
const longAwayMs = 11_000

type IdAt = (index: number) => string

interface Story {
  addresses: number
  options?: SceneOptions
  moments: Moment[]
  arrange?: (scene: Scene, id: IdAt) => void
  meanwhile?: (scene: Scene, id: IdAt) => Promise<void>
  /** How many addresses are moved in the end, at least. The others were lost with a bot before they were written, or by `arrange`. */
  leastMoved: number
}

const forever = 600_000

async function untilAllEnded(scene: Scene): Promise<void> {
  await untilTrue('all addresses have ended', async () => {
    endMoves(scene)
    return (await scene.evidence.records()).every(({ items = [] }) => items.every(({ endedAt }) => endedAt !== undefined))
  })
}

const stories: Record<string, Story> = {
  'that is approved and written': {
    // Each bot dies with the five that it is sending.
    addresses: 24,
    options: { moveTakesMs: 2_500 },
    moments: aroundEach('approve', 'begin', 'send', 'write', 'accept'),
    leastMoved: 4,
  },
  'with addresses that are refused, skipped and not started': {
    addresses: 9,
    options: { moveTakesMs: forever },
    moments: [{ at: 'fail', when: 'before', awayMs: longAwayMs }, { at: 'fail', when: 'after' }, ...aroundEach('void', 'not-start')],
    // The first bot dies with the first refusal, while the first five are under way. Three of them have taken effect.
    arrange({ accountApi }, id) {
      accountApi.faults.add({ method: 'PATCH', path: `/elastic_ips/${id(1)}`, kind: 'drop-before' })
      const refusal = { method: 'PATCH', kind: 'status', status: 422 } as const
      accountApi.faults.add({ ...refusal, path: `/elastic_ips/${id(0)}`, delayMs: 1_000 })
      for (const slow of [2, 3, 4].map(id))
        accountApi.faults.add({ method: 'PATCH', path: `/elastic_ips/${slow}`, kind: 'delay', delayMs: 5_000 })
      for (const refused of [5, 6, 7].map(id)) accountApi.faults.add({ ...refusal, path: `/elastic_ips/${refused}` })
    },
    async meanwhile(scene, id) {
      const { world } = scene.accountApi
      await untilItem(scene, id(0), ({ state }) => state === 'starting')
      world.moveBehindOurBack(id(8), world.third(id(8)).id)
      for (const notStarted of [8, 1]) await untilItem(scene, id(notStarted), ({ state }) => state === 'not-started')
      await untilAllEnded(scene)
    },
    leastMoved: 2,
  },
  'with addresses that are refused because another tool has used up the writes': {
    addresses: 12,
    options: { accountLimits: { writes: 20, windowMs: 5_000 } },
    moments: aroundEach('limit'),
    // The bot dies with the answers to five of them, which were refused. It dies with those to four others once one of the next five waits again.
    async meanwhile({ accountApi, evidence }) {
      const isAgainWaiting = async () => (await evidence.audit()).entries.some(({ act }) => act === 'limit')
      for (; !(await isAgainWaiting()); await delay(500)) accountApi.limiter.useByAnotherTool('write')
    },
    leastMoved: 3,
  },
  'with addresses that are late and superseded': {
    addresses: 4,
    options: { moveTakesMs: forever, env: { MOVE_TIMEOUT: '2s' } },
    moments: aroundEach('late', 'supersede'),
    async meanwhile(scene, id) {
      const { world } = scene.accountApi
      await untilItem(scene, id(3), ({ lateAt }) => lateAt !== undefined)
      world.moveBehindOurBack(id(0), world.third(id(0)).id)
      await untilItem(scene, id(0), ({ state }) => state === 'superseded')
      endMoves(scene)
    },
    leastMoved: 3,
  },
  'that is done after all its children': {
    addresses: 2,
    options: { moveTakesMs: 1_500 },
    moments: aroundEach('finish', 'report'),
    leastMoved: 2,
  },
}

describe('a bot that is killed around every step of an evacuation writes no address twice, forgets none, and reports once', () => {
  test.for(Object.entries(stories))('one %s', { concurrent: true }, async ([, story], context) => {
    const { addresses, options, moments, arrange, meanwhile, leastMoved } = story
    const scene = await startScene({ ...options, elasticIps: 0, onRacks: [addresses], onEnd: context.onTestFinished })
    const ids = onRack(scene, 0).map(({ id }) => id)
    const id = (index: number) => ids[index] ?? ''
    const card = await requestEvacuation(scene, 0)
    arrange?.(scene, id)

    await Promise.all([killAtEach(scene, moments), approveWhileKilled(scene, card), meanwhile?.(scene, id)])
    const evidence = await scene.gather(1)

    expect(brokenPromises(evidence)).toEqual([])
    const states = evidence.records[0]?.items?.map(({ state }) => state) ?? []
    console.log(JSON.stringify({ kills: scene.bots.kills(), states, seconds: Math.round(evidence.seconds) }))
    expect(scene.bots.kills()).toBe(moments.length)
    expect(states.filter((state) => state === 'done').length).toBeGreaterThanOrEqual(leastMoved)
  })
})
