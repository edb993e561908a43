import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Request } from '../../src/domain/request.ts'
import { type StepName, stepOf, steps } from '../../src/record/steps.ts'
import { factsOf } from '../given/signatures.ts'
import { policyInFile } from '../journeys/policy-in-file.ts'
import { ops } from '../journeys/world.ts'
import type { Message } from '../sandbox/slack/slack.ts'
import { onRack, requestEvacuation, untilItem } from './evacuations.ts'
import { brokenPromises } from './invariants.ts'
import { approveWhileKilled, aroundEach, endMoves, killAtEach, type Moment, untilHeard } from './kills.ts'
import { type Scene, type SceneOptions, startScene } from './scene.ts'
import { untilTrue } from './until-true.ts'

interface Story {
  /** Of an evacuation. Default: 3. */
  addresses?: number
  options?: SceneOptions
  policy?: string
  moments: Moment[]
  arrange?: (scene: Scene, ids: string[], id: IdAt) => unknown
  meanwhile?: (scene: Scene, ids: string[], id: IdAt, card: Message) => Promise<void>
  /** Words behind the command of a move. */
  words?: string
  /** Default: while bots are killed. */
  approved?: 'afterwards' | 'never'
  ends?: Request['state']
  /** A step that is audited once, whatever the kills. */
  audits?: StepName
  /** What the thread of the card says once. */
  says?: string
  /** How many addresses are moved in the end, at least. The others were lost with a bot before they were written, or by `arrange`. */
  leastMoved?: number
}
type IdAt = (index: number) => string

const forever = 600_000
/** Longer than half of the time for which the reads before the first write allow it. */
const longAwayMs = 11_000
const moved = { moveTakesMs: 1_500 }
const featureMissing = { kind: 'status', status: 403, body: { errors: [{ code: 'FEATURE_NOT_ENABLED' }] } } as const

/** Another tool has used up the writes. The bots do not know. */
const usedUp: SceneOptions = { accountLimits: { writes: 20, windowMs: 10_000 } }
const useUp = ({ accountApi }: Scene) => accountApi.limiter.useByAnotherTool('write')

/** What can become of a move, and of an evacuation. */
const ofBoth: Record<string, Story> = {
  'that is done': { options: moved, moments: aroundEach('finish', 'report'), ends: 'done' },
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
  'that a freeze holds': {
    options: moved,
    moments: aroundEach('wait-for-start'),
    arrange: ({ ben }) => ben.command('/infra freeze because the network is being rebuilt', { channel: ops }),
    async meanwhile(scene) {
      await untilRecord(scene, ({ waits }) => waits?.for === 'freeze')
      const { admin, ben, evidence } = scene
      const isLifted = async () => factsOf((await admin.get(evidence.keys.freeze)) ?? '{}').isOn === false
      await untilHeard('the freeze is lifted', () => ben.command('/infra unfreeze', { channel: ops }), isLifted)
    },
    ends: 'done',
  },
  'that nobody approves': {
    options: { env: { APPROVAL_TTL: '40s' } },
    moments: aroundEach('remind', 'expire'),
    approved: 'never',
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
  'that is slower than usual': {
    options: { moveTakesMs: forever },
    moments: aroundEach('slow'),
    async meanwhile(scene) {
      const { admin, evidence } = scene
      await untilRecord(scene, ({ state }) => state === 'tracking')
      const [request] = await evidence.records()
      // Otherwise it would be slow after a minute at the earliest.
      await admin.hset(evidence.keys.record(request?.id ?? ''), 'slowAfterMs', '1000')
      await untilRecord(scene, ({ slowAt }) => slowAt !== undefined)
      endMoves(scene)
    },
    ends: 'done',
  },
  'that waits for its turn': {
    options: moved,
    moments: aroundEach('wait-for-turn'),
    arrange: ({ admin, evidence: { keys } }) => admin.set(keys.accountBudget('write').pause, '1', 'PX', 40_000),
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
  'that waits for its hour, until an approver lets it start': {
    options: moved,
    words: 'in 2h',
    moments: aroundEach('start-now'),
    async meanwhile(scene, _, __, card) {
      const { ben, evidence, slack } = scene
      await untilRecord(scene, ({ waits }) => waits?.for === 'start')
      const shown = () => slack.messages(card.channel).find(({ ts }) => ts === card.ts) ?? card
      const isHeard = async () => (await evidence.records()).some(({ startNow }) => startNow !== undefined)
      await untilHeard('it may start now', () => ben.click(shown(), 'Start now'), isHeard)
    },
    ends: 'done',
    audits: 'start-now',
  },
  'that nobody approves until others are called': {
    policy: 'rules: [{ name: a, approve: [S0ONCALL01], escalate: { after: 5s, to: [U0DOV00001] } }]',
    moments: aroundEach('escalate', 'report'),
    approved: 'afterwards',
    ends: 'done',
    audits: 'escalate',
    says: '<@U0DOV00001>',
  },
  'that fails': {
    options: moved,
    moments: aroundEach('fail'),
    arrange: ({ accountApi }) => accountApi.world.nextMove({ takesMs: 1_500, endsIn: 'error' }),
    ends: 'failed',
  },
}

/** What becomes of the addresses of an evacuation. */
const ofEvacuations: Record<string, Story> = {
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
    arrange({ accountApi }, _, id) {
      accountApi.faults.add({ method: 'PATCH', path: `/elastic_ips/${id(1)}`, kind: 'drop-before' })
      const refusal = { method: 'PATCH', kind: 'status', status: 422 } as const
      accountApi.faults.add({ ...refusal, path: `/elastic_ips/${id(0)}`, delayMs: 1_000 })
      for (const slow of [2, 3, 4].map(id))
        accountApi.faults.add({ method: 'PATCH', path: `/elastic_ips/${slow}`, kind: 'delay', delayMs: 5_000 })
      for (const refused of [5, 6, 7].map(id)) accountApi.faults.add({ ...refusal, path: `/elastic_ips/${refused}` })
    },
    async meanwhile(scene, _, id) {
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
    async meanwhile(scene, _, id) {
      const { world } = scene.accountApi
      await untilItem(scene, id(3), ({ lateAt }) => lateAt !== undefined)
      world.moveBehindOurBack(id(0), world.third(id(0)).id)
      await untilItem(scene, id(0), ({ state }) => state === 'superseded')
      endMoves(scene)
    },
    leastMoved: 3,
  },
}

/** The steps of a request whose record cannot be verified any more. */
const distrusted = aroundEach('distrust')

const stories = [
  ...Object.entries({ ...ofBoth, ...ofMoves }).map(([name, story]) => ({ what: 'a move', name, story })),
  ...Object.entries({ ...ofBoth, ...ofEvacuations }).map(([name, story]) => ({ what: 'an evacuation', name, story })),
]

describe('a bot that is killed right before and right after each step of a request ends it rightly, and reports once', () => {
  test.for(stories)('$what $name', { concurrent: true }, async ({ what, story }, context) => {
    const { addresses = 3, options, policy, words, moments, arrange, meanwhile, approved, ends, audits, says, leastMoved = 0 } = story
    const isMove = what === 'a move'
    const some: SceneOptions = isMove ? { elasticIps: 1 } : { elasticIps: 0, onRacks: [addresses] }
    const onEnd = context.onTestFinished
    const env = { ...options?.env, ...(policy && { POLICY_FILE: policyInFile(policy, onEnd) }) }
    const scene = await startScene({ ...options, ...some, env, onEnd })
    const ids = isMove ? [scene.elasticIp(0).id] : onRack(scene, 0).map(({ id }) => id)
    const idAt: IdAt = (index) => ids[index] ?? ''
    const card = isMove ? await scene.requestMove(0, ops, words) : await requestEvacuation(scene, 0)
    await arrange?.(scene, ids, idAt)

    const decide = () => approveWhileKilled(scene, card)
    await Promise.all([killAtEach(scene, moments), !approved && decide(), meanwhile?.(scene, ids, idAt, card)])
    if (approved === 'afterwards') await decide()
    scene.accountApi.faults.clear()
    const evidence = await scene.gather(1)

    expect(brokenPromises(evidence)).toEqual([])
    if (ends) expect(evidence.records.map(({ state }) => state)).toEqual([ends])
    if (audits) expect(evidence.audit.entries.filter(({ act }) => act === audits)).toHaveLength(1)
    if (says) expect(scene.slack.thread(card.channel, card.ts).filter(({ text }) => text.includes(says))).toHaveLength(1)
    expect(scene.bots.kills()).toBe(moments.length)
    const moved = evidence.records.flatMap(({ items = [] }) => items).filter(({ state }) => state === 'done')
    expect(moved.length).toBeGreaterThanOrEqual(leastMoved)
  })

  test('a move whose record somebody changes in Redis is no longer tracked, which is said once', async ({ onTestFinished }) => {
    const scene = await startScene({ elasticIps: 1, moveTakesMs: forever, onEnd: onTestFinished })
    const { admin, evidence, slack } = scene
    const card = await scene.requestMove(0)
    async function changeRecord(): Promise<void> {
      await untilRecord(scene, ({ state }) => state === 'tracking')
      const [request] = await evidence.records()
      await admin.hset(evidence.keys.record(request?.id ?? ''), 'reason', JSON.stringify('another one'))
      // A look that read the record before that may end the move, and rightly so.
      await delay(2_000)
      // The record is verified before the next step, which is the end of the move.
      endMoves(scene)
    }

    await Promise.all([killAtEach(scene, distrusted), approveWhileKilled(scene, card), changeRecord()])
    await scene.untilReport(card, /No longer tracked/)
    await delay(6_000)

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
      'prolong',
      'expire-approved',
      'fail-begun',
    ])
  })
})

async function untilRecord({ evidence }: Scene, fits: (request: Request) => boolean): Promise<void> {
  await untilTrue('Redis shows the request like this', async () => (await evidence.records()).some(fits))
}

async function untilAllEnded(scene: Scene): Promise<void> {
  await untilTrue('all addresses have ended', async () => {
    endMoves(scene)
    return (await scene.evidence.records()).every(({ items = [] }) => items.every(({ endedAt }) => endedAt !== undefined))
  })
}
