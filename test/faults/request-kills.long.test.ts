import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Request } from '../../src/domain/request.ts'
import { type StepName, stepOf, steps } from '../../src/requests/steps.ts'
import { onRack, requestEvacuation } from './evacuations.ts'
import { brokenPromises } from './invariants.ts'
import { approveWhileKilled, aroundEach, endMoves, killAtEach, type Moment } from './kills.ts'
import { type Scene, type SceneOptions, startScene } from './scene.ts'
import { untilTrue } from './until-true.ts'

interface Story {
  options?: SceneOptions
  moments: Moment[]
  arrange?: (scene: Scene, ids: string[]) => unknown
  meanwhile?: (scene: Scene, ids: string[]) => Promise<void>
  isApproved?: false
  ends: Request['state']
}

const forever = 600_000
const moved = { moveTakesMs: 1_500 }
const featureMissing = { kind: 'status', status: 403, body: { errors: [{ code: 'FEATURE_NOT_ENABLED' }] } } as const

/** Another tool has used up the writes. The bots do not know. */
const usedUp: SceneOptions = { accountLimits: { writes: 20, windowMs: 10_000 } }
const useUp = ({ accountApi }: Scene) => accountApi.limiter.useByAnotherTool('write')

/** What can become of a move, and of an evacuation. */
const ofBoth: Record<string, Story> = {
  'that is done': { options: moved, moments: aroundEach('finish'), ends: 'done' },
  'whose addresses somebody else moves before': {
    moments: aroundEach('void'),
    arrange({ accountApi: { world } }, ids) {
      for (const id of ids) world.moveBehindOurBack(id, world.third(id).id)
    },
    ends: 'voided',
  },
  'that the account API is certain to refuse': {
    moments: aroundEach('drop'),
    arrange: ({ accountApi }) => accountApi.faults.add({ method: 'GET', ...featureMissing, times: Number.POSITIVE_INFINITY }),
    ends: 'not-started',
  },
  'that waits for the account API': {
    options: moved,
    moments: aroundEach('wait-for-account'),
    arrange: ({ accountApi }) => accountApi.faults.add({ method: 'GET', kind: 'status', status: 503, times: Number.POSITIVE_INFINITY }),
    async meanwhile(scene) {
      await untilRecord(scene, ({ waits }) => waits?.for === 'account')
      scene.accountApi.faults.clear()
    },
    ends: 'done',
  },
  'that nobody approves': {
    options: { env: { APPROVAL_TTL: '40s' } },
    moments: [...aroundEach('remind-half'), { at: 'remind-last', when: 'after' }, ...aroundEach('expire')],
    isApproved: false,
    ends: 'expired',
  },
}

/** What evacuations do with their children. */
const ofMoves: Record<string, Story> = {
  'that is late': {
    options: { moveTakesMs: forever, env: { MOVE_TIMEOUT: '2s' } },
    moments: aroundEach('accept', 'late'),
    async meanwhile(scene) {
      await untilRecord(scene, ({ lateAt }) => lateAt !== undefined)
      await delay(1_000)
      endMoves(scene)
    },
    ends: 'done',
  },
  'that waits for its turn': {
    options: moved,
    moments: aroundEach('wait-for-turn'),
    arrange: ({ admin, evidence: { keys } }) => admin.set(keys.accountBudget('key', 'write').pause, '1', 'PX', 20_000),
    ends: 'done',
  },
  'that the account API refuses because of its limit': {
    options: { ...moved, ...usedUp },
    moments: [{ at: 'limit', when: 'after' }],
    arrange: useUp,
    ends: 'done',
  },
  'that the account API refuses because of its limit, of which the bot never learns': {
    options: usedUp,
    moments: [{ at: 'limit', when: 'before' }],
    arrange: useUp,
    ends: 'not-started',
  },
  'whose write is lost with the bot': { moments: aroundEach('send', 'not-start'), ends: 'not-started' },
  'that another one overtakes': {
    options: { moveTakesMs: forever },
    moments: aroundEach('supersede'),
    async meanwhile(scene, [id = '']) {
      const { world } = scene.accountApi
      await untilRecord(scene, ({ state }) => state === 'tracking')
      world.moveBehindOurBack(id, world.third(id).id)
    },
    ends: 'superseded',
  },
  'that fails': {
    options: moved,
    moments: aroundEach('fail'),
    arrange: ({ accountApi }) => accountApi.world.nextMove({ takesMs: 1_500, endsIn: 'error' }),
    ends: 'failed',
  },
}

/** The steps of a request whose record cannot be verified any more. */
const distrusted = aroundEach('distrust')

const stories = [
  ...Object.entries({ ...ofBoth, ...ofMoves }).map(([name, story]) => ({ what: 'a move', name, story })),
  ...Object.entries(ofBoth).map(([name, story]) => ({ what: 'an evacuation', name, story })),
]

describe('a bot that is killed right before and right after each step of a request ends it rightly, and reports once', () => {
  test.for(stories)('$what $name', { concurrent: true }, async ({ what, story }, context) => {
    const { options, moments, arrange, meanwhile, isApproved = true, ends } = story
    const isMove = what === 'a move'
    const some: SceneOptions = isMove ? { elasticIps: 1 } : { elasticIps: 0, onRacks: [3] }
    const scene = await startScene({ ...options, ...some, onEnd: context.onTestFinished })
    const ids = isMove ? [scene.elasticIp(0).id] : onRack(scene, 0).map(({ id }) => id)
    const card = isMove ? await scene.requestMove(0) : await requestEvacuation(scene, 0)
    await arrange?.(scene, ids)

    await Promise.all([killAtEach(scene, moments, 60_000), isApproved && approveWhileKilled(scene, card), meanwhile?.(scene, ids)])
    scene.accountApi.faults.clear()
    const evidence = await scene.gather(1)

    expect(brokenPromises(evidence)).toEqual([])
    expect(evidence.records.map(({ state }) => state)).toEqual([ends])
    expect(scene.bots.kills()).toBe(moments.length)
  })

  test('a move whose record somebody changes in Redis is no longer tracked, which is said once', async ({ onTestFinished }) => {
    const scene = await startScene({ elasticIps: 1, moveTakesMs: forever, onEnd: onTestFinished })
    const { admin, evidence, slack } = scene
    const card = await scene.requestMove(0)
    async function changeRecord(): Promise<void> {
      await untilRecord(scene, ({ state }) => state === 'tracking')
      const [request] = await evidence.records()
      await admin.hset(evidence.keys.record(request?.id ?? ''), 'reason', JSON.stringify('another one'))
      // The record is verified before the next step, which is the end of the move.
      endMoves(scene)
    }

    await Promise.all([killAtEach(scene, distrusted, 60_000), approveWhileKilled(scene, card), changeRecord()])
    await scene.untilReport(card, /No longer tracked/)
    await delay(3_000)

    await delay(3_000)

    expect((await evidence.records()).map(({ state }) => state)).toEqual(['untracked'])
    expect(slack.thread(card.channel, card.ts).filter(({ text }) => text.includes('*No longer tracked:*'))).toHaveLength(1)
    expect((await evidence.audit()).entries.filter(({ act }) => act === 'distrust')).toHaveLength(1)
    expect(scene.accountApi.journal.writes()).toHaveLength(1)
    expect(scene.bots.kills()).toBe(distrusted.length)
  })

  test('these are all steps that a worker takes of moves', () => {
    const moments = [...stories.flatMap(({ story }) => story.moments), ...distrusted]
    const killedAt = new Set<Moment['at']>(moments.map(({ at }) => at))
    const taken = (Object.keys(steps) as StepName[]).filter((name) => stepOf(name).takers.includes('worker'))

    expect(taken.filter((name) => !killedAt.has(name))).toEqual([
      // Takes the place of an approval.
      'exempt',
      // Of keys.
      'remind-handover-half',
      'remind-handover-last',
      'expire-approved',
      // faults/evacuation-kills
      'begin',
      // Of keys.
      'fail-begun',
    ])
  })
})

async function untilRecord({ evidence }: Scene, fits: (request: Request) => boolean): Promise<void> {
  await untilTrue('Redis shows the request like this', async () => (await evidence.records()).some(fits))
}
