import type { Redis } from 'ioredis'
import { describe, expect, test } from 'vitest'
import type { ElasticIp } from '../../src/account/objects.ts'
import { createAudit } from '../../src/audit/audit.ts'
import { findEntries } from '../../src/audit/find.ts'
import { createNewestHead } from '../../src/audit/intake.ts'
import type { UnderwayNow } from '../../src/domain/change.ts'
import { moveChange } from '../../src/features/moves/move-change.ts'
import { createDataLossMark } from '../../src/life/self-checks.ts'
import { deliver } from '../../src/outbox/outbox.ts'
import { createFreezes } from '../../src/record/freeze.ts'
import type { Keys } from '../../src/redis/key-names.ts'
import { fakeApp } from '../fake-app.ts'
import { auditSigning } from '../given/audit.ts'
import { outboxApp } from '../given/outbox-app.ts'
import { connectTestRedis } from '../given/redis.ts'
import { recordRequest } from '../given/request.ts'
import { recordKeyring } from '../given/signatures.ts'
import { wholeList } from '../whole-list.ts'

const onWeb1 = {
  id: 'eip_1GijF7NsZe3bN',
  address: '203.0.113.10',
  status: 'moving',
  server: { id: 'sv_1WFgWmkF9Mzju', hostname: 'web-1' },
} as ElasticIp

/** What the kind `ip.move` lists as under way when the account API returns this list. */
function underwayOn(list: () => Promise<ElasticIp[]>): UnderwayNow {
  const { underwayNow } = moveChange({ account: { elasticIps: { list: async () => wholeList(await list()) } } } as never)
  if (!underwayNow) throw new Error('the kind ip.move has no underwayNow')
  return underwayNow
}

/** The end of every notice. */
const pointer = / More: <https:\/\/\S+#[a-z-]+\|[a-z-]+>\.$/

/** A process that checks the data set, adds audit notes, and posts to the operators. */
function startProcess({ redis, keys }: { redis: Redis; keys: Keys }, underway = [underwayOn(async () => [onWeb1])]) {
  const losses: string[] = []
  const { app, texts, settle, sweep } = outboxApp({ redis, keys })
  let isDying = false
  const newestHead = createNewestHead()
  const audit = createAudit({ redis, keys, print: () => {}, onError: () => {}, newestHead, ...auditSigning() })
  const freezes = createFreezes({ redis, keys, audit, store: app.store }, recordKeyring)
  const watched = fakeApp({
    ...app,
    ...{ audit, freezes },
    catalog: {
      underwayNow() {
        if (isDying) throw new Error('died')
        return underway
      },
    },
    metrics: { requestsLost: (how) => void losses.push(how) },
  })
  const dataLossMark = createDataLossMark(watched, newestHead)
  /** Adds `count` entries to the audit chain, one after the other. */
  const note = async (count: number) => {
    for (let done = 0; done < count; done += 1) {
      await audit.note({ act: 'test' })
      await audit.settle()
    }
  }
  const check = () => dataLossMark.check().finally(settle)
  /** It has marked the data set, and sends no notice. */
  async function dieAtCheck(): Promise<void> {
    isDying = true
    await expect(check()).rejects.toThrow('died')
    isDying = false
  }
  const posts = () => texts.map((text) => text.replace(pointer, ''))
  /** What everything is frozen because of, and each freeze in the audit, the oldest first. */
  const frozen = async () => {
    const entries = await findEntries({ audit }, ({ act }) => act === 'freeze')
    const { record } = await freezes.read()
    return [record?.isOn ? record.because : undefined, entries.map(({ causes }) => causes?.[0]?.code).toReversed()]
  }
  return { app, check, dieAtCheck, sweep, posts, losses, note, frozen, freezes }
}

const audited = (keys: Keys) => [keys.audit, keys.auditHead, keys.dataLossMark]

/** What people and Redis do to two processes, `one` and `other`. A number says how often. */
const acts: Record<string, (world: ReturnType<typeof startTwo>, count: number) => Promise<unknown>> = {
  'one checks': ({ one }) => one.check(),
  'other checks': ({ other }) => other.check(),
  async 'all check twice'({ one, other }) {
    for (const { check } of [one, other, one, other]) await check()
  },
  'one dies at its check': ({ one }) => one.dieAtCheck(),
  'one sweeps': ({ one }) => one.sweep(),
  'one notes': ({ one }, count) => one.note(count),
  'other notes': ({ other }, count) => other.note(count),
  async 'the audit is copied'(world) {
    const copies = await Promise.all(audited(world.keys).map(async (name) => [name, await world.redis.dumpBuffer(name)] as const))
    world.restore = async () => {
      for (const [name, copy] of copies) await world.redis.restore(name, 0, copy, 'REPLACE')
    }
  },
  'the copy is restored': ({ restore }) => restore(),
  'all is lost': async ({ redis, keys }) => redis.del(...(await redis.keys(`${keys.queuePrefix}*`))),
  'the audit is lost': ({ redis, keys }) => redis.del(...audited(keys), keys.freeze),
  'the mark is lost': ({ redis, keys }) => redis.del(keys.dataLossMark),
  'old entries are removed': ({ redis, keys }) => redis.xtrim(keys.audit, 'MAXLEN', 0),
  'the freeze is lifted': ({ one }) => one.freezes.lift({ by: 'U0BEN00001' }),
  /** As if the Redis that took over had written all entries, with a clock that is behind. */
  async 'all ids go back'({ redis, keys }) {
    const entries = await redis.xrange(keys.audit, '-', '+')
    await redis.del(keys.audit)
    for (const [index, [, fields]] of entries.entries()) await redis.xadd(keys.audit, `${Date.now() - 60_000 + index}-0`, ...fields)
  },
}

function startTwo() {
  const shared = connectTestRedis()
  return { ...shared, one: startProcess(shared), other: startProcess(shared), restore: async () => {} }
}

async function tell(story: string, world = startTwo()) {
  for (const step of story.split(', ')) {
    const [, act = '', count] = /^(.*?)(?: (\d+))?$/.exec(step) ?? []
    await acts[act]?.(world, Number(count ?? 1))
    expect(acts, step).toHaveProperty([act])
  }
  return world
}

const moving = 'tracked by Lockkeeper: 203\\.0\\.113\\.10 \\(eip_1GijF7NsZe3bN\\), shown on web-1\\.$'
const notices = {
  new: /Redis has no data of Lockkeeper yet/,
  lost: new RegExp(`Redis lost Lockkeeper's data.*not ${moving}`),
  'set-back': new RegExp(`Redis went back to an older state.*perhaps no longer ${moving}`),
}

/** What the operators were told, by the name of each notice. */
const toldBy = (...processes: ReturnType<typeof startProcess>[]) =>
  processes.flatMap(({ posts }) => posts()).map((text) => Object.entries(notices).find(([, words]) => words.test(text))?.[0] ?? text)

interface Outcome {
  told?: string[]
  /** What each of the two counted. */
  losses?: string[][]
  /** What everything is frozen because of, and each freeze in the audit. */
  frozen?: [string | undefined, string[]]
}

/** One note is in the copy that is restored, and one is not. */
const setBack = 'one checks, one notes 1, the audit is copied, one notes 1, the copy is restored'

const stories: Record<string, [story: string, outcome: Outcome]> = {
  'a new data set is told once, and not again while it grows; nothing is frozen on a first start': [
    'one checks, other checks, one notes 3, one checks, other checks',
    { told: ['new'], frozen: [undefined, []] },
  ],
  'lost data are told as lost, and as nothing else': [
    'one checks, one notes 3, all is lost, one checks, one checks',
    { told: ['new', 'lost'], losses: [['all-data'], []], frozen: ['data-lost', ['data-lost']] },
  ],
  'lost data are told at the next check if Redis fails right after the loss, which counts once': [
    'one checks, the mark is lost, one dies at its check, one checks, one checks, one sweeps',
    { told: ['new', 'lost'], losses: [['all-data'], []] },
  ],
  // The next process finds a new data set, and cannot know of the loss.
  'lost data freeze everything before a process that dies could leave it unnoticed': [
    'one checks, other checks, all is lost, one dies at its check',
    { frozen: ['data-lost', ['data-lost']] },
  ],
  'lost data freeze everything once': [
    'one checks, other checks, all is lost, one dies at its check, other checks',
    { frozen: ['data-lost', ['data-lost']] },
  ],
  'an older state is told once, and counted once by each process': [
    'one checks, one notes 2, the audit is copied, one notes 1, one checks, other checks, the copy is restored, all check twice',
    { told: ['new', 'set-back'], losses: [['set-back'], ['set-back']], frozen: ['set-back', ['set-back']] },
  ],
  'an older state stays unfrozen once the freeze is lifted, also for a process that notices it after that': [
    `other checks, ${setBack}, one checks, the freeze is lifted, one checks, other checks`,
    { frozen: [undefined, ['set-back']] },
  ],
  'a copy that is put back after everything was lost is an older state': [
    'one checks, one notes 2, the audit is copied, the audit is lost, one checks, one checks, the copy is restored, one checks, one checks',
    { told: ['new', 'lost', 'set-back'], losses: [['all-data', 'set-back'], []], frozen: ['set-back', ['set-back']] },
  ],
  'a Redis that goes back again while everything is frozen is noted again': [
    `all check twice, ${setBack}, all check twice, ${setBack}, all check twice`,
    { frozen: ['set-back', ['set-back', 'set-back']] },
  ],
  'an older state is found by the entries that another process chained in their place': [
    `${setBack}, other notes 1, one checks`,
    { told: ['new', 'set-back'] },
  ],
  'an older state is found although the clock of the Redis that took over is behind': [
    'one checks, other checks, one notes 2, the audit is copied, one notes 1, the copy is restored, other notes 2, all ids go back, one checks',
    { losses: [['set-back'], []] },
  ],
  'entries that were removed because they are old are no loss': [
    'one checks, one notes 3, one checks, old entries are removed, one checks, one notes 1, one checks',
    { told: ['new'] },
  ],
}
for (const since of [0, 1, 3])
  stories[`an older state is found by the process that chained its entries, and ${since} since`] = [
    `${setBack}, one notes ${since}, one checks`,
    { told: ['new', 'set-back'] },
  ]
// What the append-only file has when the machine of Redis loses power, or what the replica has that takes over.
for (const first of ['one checks', 'one notes 1'])
  for (const [gone, since] of [
    [2, 0],
    [2, 1],
    [2, 2],
    [2, 3],
    [5, 40],
  ])
    stories[
      `${gone} entries that are gone are found once by the process that wrote them, when ${first}, although another one wrote ${since} since`
    ] = [
      `one checks, other checks, one notes 10, other checks, the audit is copied, one notes ${gone}, the copy is restored, other notes ${since}, other checks, ${first}, all check twice`,
      { losses: [['set-back'], []], frozen: ['set-back', ['set-back']] },
    ]

test.each(Object.entries(stories))('%s', async (_, [story, { told, losses, frozen }]) => {
  const { one, other } = await tell(story)
  if (told) expect(toldBy(one, other)).toEqual(told)
  if (losses) expect([one.losses, other.losses]).toEqual(losses)
  if (frozen) expect(await other.frozen()).toEqual(frozen)
})

describe('a new data set', () => {
  test('is told by another process if the one that marked it died before it posted', async () => {
    const shared = connectTestRedis()
    await startProcess(shared).dieAtCheck()
    const next = startProcess(shared)

    await next.check()
    await next.sweep()

    expect(toldBy(next)).toEqual(['new'])
  })

  test('is told without what is under way if the process died while it read the account', async () => {
    const shared = connectTestRedis()
    void startProcess(shared, [underwayOn(() => new Promise(() => {}))]).check()
    const next = startProcess(shared)

    await expect.poll(() => shared.redis.zcard(shared.keys.outbox)).toBe(1)
    await expect.poll(() => next.sweep().then(() => next.posts().length)).toBe(1)

    expect(next.posts()[0]).toMatch(/the buttons of their messages no longer work\.$/)
  })

  const address = ' Elastic IPs that are moving now, not tracked by Lockkeeper: 203.0.113.10 (eip_1GijF7NsZe3bN), shown on web-1.'
  const none = ' No Elastic IP is moving now.'
  const unread = " Couldn't read which Elastic IPs are moving now. Check the account."

  test.each([
    [
      'with the changes under way of every kind that lists them',
      [underwayOn(async () => []), underwayOn(async () => [onWeb1])],
      none + address,
    ],
    ['without changes under way if no kind lists them', [], ''],
    ['even if the account API does not answer', [underwayOn(() => Promise.reject(new Error('no answer')))], unread],
  ])('is told %s', async (_, underway, words) => {
    const { check, posts } = startProcess(connectTestRedis(), underway)

    await check()

    expect(posts().map((text) => text.split('no longer work.')[1])).toEqual([words])
  })
})

test('an older state updates the messages of open requests, which may show a decision that is undone, and says what to do', async () => {
  const world = startTwo()
  const { one, redis, keys } = world
  const { id } = await recordRequest(one.app.store)
  await deliver(one.app, id, 'card')
  await tell(setBack, world)
  const isOwed = async () => (await redis.zscore(keys.outbox, `${id}/card`)) !== null
  expect(await isOwed(), 'before the loss is noticed').toBe(false)

  await one.check()

  expect(await isOwed()).toBe(true)
  expect(one.posts().at(-1)?.split(' Elastic IPs that')[0]).toMatchInlineSnapshot(
    `":rotating_light: *Redis went back to an older state.* Newer decisions may be undone, and newer requests may be gone. Lockkeeper has frozen all changes: none starts until somebody uses the unfreeze command. Find out what happened to Redis: was an older copy restored, or did a replica take over that lagged behind? Before anyone approves an open request, check on the account whether it was already carried out."`,
  )
})
