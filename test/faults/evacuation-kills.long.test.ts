import { describe, expect, test } from 'vitest'
import { itemSteps } from '../../src/requests/steps/items.ts'
import { onRack, requestEvacuation, untilEvacuation, untilItem } from './evacuations.ts'
import { brokenPromises } from './invariants.ts'
import { approveWhileKilled, aroundEach, endMoves, killAtEach, type Moment } from './kills.ts'
import { type Scene, type SceneOptions, startScene } from './scene.ts'

/** Longer than half of the time for which the reads before the first write allow it. */
const longAwayMs = 11_000

/** Returns the id of an address by its place on the rack. */
type IdAt = (index: number) => string

interface Story {
  addresses: number
  options?: SceneOptions
  moments: Moment[]
  /** Prepares the account before the approval. */
  arrange?: (scene: Scene, id: IdAt) => void
  /** What happens on the account meanwhile. */
  meanwhile?: (scene: Scene, id: IdAt) => Promise<void>
  /** How many addresses are moved in the end, at least. The others were lost with a bot before they were written, or by `arrange`. */
  leastMoved: number
}

const forever = 600_000

const stories: Record<string, Story> = {
  'that is approved and written': {
    addresses: 9,
    options: { moveTakesMs: 2_500 },
    moments: aroundEach('approve', 'begin', 'send-item', 'write', 'accept-item'),
    leastMoved: 6,
  },
  'with addresses that are refused, skipped and start late': {
    addresses: 9,
    options: { moveTakesMs: forever },
    moments: [
      { at: 'fail-item', when: 'before', awayMs: longAwayMs },
      { at: 'fail-item', when: 'after' },
      ...aroundEach('skip-item', 'not-start-item', 'restart-item'),
    ],
    // The first bot sends the first five of them at least, and perhaps the sixth. Its answers are lost with it.
    arrange({ account }, id) {
      account.faults.add({ method: 'PATCH', path: `/elastic_ips/${id(1)}`, kind: 'drop-before' })
      for (const refused of [0, 5, 6, 7].map(id))
        account.faults.add({ method: 'PATCH', path: `/elastic_ips/${refused}`, kind: 'status', status: 422 })
    },
    async meanwhile(scene, id) {
      const { world } = scene.account
      await untilItem(scene, id(0), ({ state }) => state === 'starting')
      world.moveBehindOurBack(id(8), world.third(id(8)).id)
      for (const notStarted of [8, 1]) await untilItem(scene, id(notStarted), ({ state }) => state === 'not-started')
      // Only the target proves that it is this move.
      world.nextMove({ phases: [{ server: 'target' }] })
      world.startMove(id(1), scene.to)
      await untilItem(scene, id(1), ({ state }) => state === 'tracking')
      endMoves(scene)
    },
    leastMoved: 2,
  },
  'with addresses that are late and superseded': {
    addresses: 4,
    options: { moveTakesMs: forever, env: { MOVE_TIMEOUT: '2s' } },
    moments: aroundEach('late-item', 'supersede-item', 'fail'),
    async meanwhile(scene, id) {
      const { world } = scene.account
      await untilItem(scene, id(3), ({ lateAt }) => lateAt !== undefined)
      world.moveBehindOurBack(id(0), world.third(id(0)).id)
      await untilItem(scene, id(0), ({ state }) => state === 'superseded')
      endMoves(scene)
    },
    leastMoved: 3,
  },
  'whose write the account refuses because of its limit, which puts the address back': {
    addresses: 9,
    options: { moveTakesMs: 1_500 },
    moments: aroundEach('limit-item'),
    arrange({ account }, id) {
      const body = { errors: [{ code: 'RATE_LIMIT_EXCEEDED', status: '429', meta: { retry_after: 2 } }] }
      for (const refused of [0, 7].map(id))
        account.faults.add({ method: 'PATCH', path: `/elastic_ips/${refused}`, kind: 'status', status: 429, body })
    },
    // What the first bot is sending is lost with it, and the refusal of the first address: nobody knows then that it was refused.
    leastMoved: 4,
  },
  'whose report is corrected, because a write took effect much later': {
    addresses: 2,
    options: { moveTakesMs: 1_500 },
    moments: aroundEach('finish-item', 'report', 'correct-to-tracking', 'correct-to-done'),
    arrange: ({ account }, id) => void account.faults.add({ method: 'PATCH', path: `/elastic_ips/${id(0)}`, kind: 'drop-before' }),
    async meanwhile(scene, id) {
      await untilEvacuation(scene, 0, /\*Partly done\*/, 60_000)
      scene.account.world.startMove(id(0), scene.to)
    },
    leastMoved: 2,
  },
}

describe('a bot that is killed around every step of an evacuation writes no address twice, forgets none, and reports once', () => {
  test.for(Object.entries(stories))('one %s', { concurrent: true, timeout: 180_000 }, async ([, story], context) => {
    const { addresses, options, moments, arrange, meanwhile, leastMoved } = story
    const scene = await startScene({ ...options, elasticIps: 0, onRacks: [addresses], onEnd: context.onTestFinished })
    const ids = onRack(scene, 0).map(({ id }) => id)
    const id = (index: number) => ids[index] ?? ''
    const card = await requestEvacuation(scene, 0)
    arrange?.(scene, id)

    await Promise.all([killAtEach(scene, moments), approveWhileKilled(scene, card), meanwhile?.(scene, id)])
    const evidence = await scene.gather(1, 40_000)

    expect(brokenPromises(evidence)).toEqual([])
    const states = evidence.records[0]?.items?.map(({ state }) => state) ?? []
    console.log(JSON.stringify({ kills: scene.bots.kills(), states, seconds: Math.round(evidence.seconds) }))
    expect(scene.bots.kills()).toBe(moments.length)
    expect(states.filter((state) => state === 'done').length).toBeGreaterThanOrEqual(leastMoved)
  })

  test('these are all steps of items', () => {
    const killedAt = new Set(Object.values(stories).flatMap(({ moments }) => moments.map(({ at }) => at)))
    expect(Object.keys(itemSteps).filter((step) => !killedAt.has(step as Moment['at']))).toEqual([])
  })
})
