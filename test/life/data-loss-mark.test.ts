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
import type { Posted } from '../../src/slack/web-api.ts'
import { fakeApp } from '../fake-app.ts'
import { auditSigning } from '../given/audit.ts'
import { lost, outboxApp, sent } from '../given/outbox-app.ts'
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

/** A process that checks the data set, adds audit notes, and posts to the operators. Its first `failing` posts fail. */
function startProcess(
  { redis, keys }: { redis: Redis; keys: Keys },
  { failing = 0, underway = [underwayOn(async () => [onWeb1])], keep = true } = {},
) {
  const losses: string[] = []
  const log: [level: string, text: string][] = []
  const write = (level: string) => (_: object, text: string) => void log.push([level, text])
  const failed = Array<Posted>(failing).fill(lost)
  const { app, texts, settle, sweep } = outboxApp({ redis, keys }, { posts: [...failed, sent], write })
  let keepsToFail = keep ? 0 : 1
  const newestHead = createNewestHead()
  const audit = createAudit({ redis, keys, print: () => {}, onError: () => {}, newestHead, ...auditSigning() })
  const freezes = createFreezes({ redis, keys, audit, store: app.store }, recordKeyring)
  const watched = fakeApp({
    ...app,
    ...{ audit, freezes },
    // Without `keep`, the process dies before it sends the notice.
    catalog: {
      underwayNow() {
        if (keepsToFail-- > 0) throw new Error('died')
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
  /** Lets the next tries to report fail, as Redis does while it comes back. */
  const failKeeping = (count: number) => {
    keepsToFail = count
  }
  const check = () => dataLossMark.check().finally(settle)
  const posts = () => texts.map((text) => text.replace(pointer, ''))
  /** What Lockkeeper has frozen by itself, and how often. */
  const frozen = async () => {
    const entries = await findEntries({ audit }, ({ act }) => act === 'freeze')
    const { record } = await freezes.read()
    return [record?.isOn ? record.because : undefined, entries.length]
  }
  return { app, check, sweep, failKeeping, posts, losses, log, note, frozen, freezes }
}

/** Copies the audit. Returns a function that restores the copy. */
async function copyAudit({ redis, keys }: { redis: Redis; keys: Keys }) {
  const names = [keys.audit, keys.auditHead, keys.dataLossMark]
  const copies = await Promise.all(names.map(async (name) => [name, await redis.dumpBuffer(name)] as const))
  return async () => {
    for (const [name, copy] of copies) await redis.restore(name, 0, copy, 'REPLACE')
  }
}

describe('a data set', () => {
  test('is reported as new once, and not again while it grows', async () => {
    const shared = connectTestRedis()
    const [one, other] = [startProcess(shared), startProcess(shared)]

    await one.check()
    await other.check()
    await one.note(3)
    await one.check()
    await other.check()

    expect(one.posts()).toEqual([expect.stringContaining('Redis has no data of Lockkeeper yet')])
    expect(other.posts()).toEqual([])
    expect(await one.frozen(), 'nothing is frozen on a first start').toEqual([undefined, 0])
  })

  test('is reported by another process if the one that marked it died before it posted', async () => {
    const shared = connectTestRedis()
    await expect(startProcess(shared, { keep: false }).check()).rejects.toThrow('died')
    const next = startProcess(shared)

    await next.check()
    await next.sweep()

    expect(next.posts()).toEqual([expect.stringContaining('Redis has no data of Lockkeeper yet')])
  })

  test('is reported without what is under way if the process died while it read the account', async () => {
    const shared = connectTestRedis()
    const dead = startProcess(shared, { underway: [underwayOn(() => new Promise(() => {}))] })
    void dead.check()
    const next = startProcess(shared)

    await expect.poll(() => shared.redis.zcard(shared.keys.outbox)).toBe(1)
    await expect.poll(() => next.sweep().then(() => next.posts().length)).toBe(1)

    expect(next.posts()[0]).toMatch(/the buttons of their messages no longer work\.$/)
  })

  test('that was lost is reported at the next check, with what is under way, if Redis fails right after the loss', async () => {
    const shared = connectTestRedis()
    const one = startProcess(shared)
    await one.check()
    await shared.redis.del(shared.keys.dataLossMark)
    one.failKeeping(1)
    await expect(one.check()).rejects.toThrow('died')

    await one.check()
    await one.check()
    await one.sweep()

    expect(one.posts().slice(1)).toEqual([
      expect.stringMatching(/Redis lost Lockkeeper's data.*not tracked by Lockkeeper: 203\.0\.113\.10/),
    ])
    expect(one.losses, 'the loss counts once').toEqual(['all-data'])
  })

  test('that was lost is reported as lost, and as nothing else', async () => {
    const shared = connectTestRedis()
    const one = startProcess(shared)
    await one.check()
    await one.note(3)
    await shared.redis.del(...(await shared.redis.keys(`${shared.keys.queuePrefix}*`)))

    await one.check()
    await one.check()

    expect(one.posts().slice(1)).toEqual([
      expect.stringMatching(
        /Redis lost Lockkeeper's data.*not tracked by Lockkeeper: 203\.0\.113\.10 \(eip_1GijF7NsZe3bN\), shown on web-1\.$/,
      ),
    ])
    expect(one.losses, 'the loss counts').toEqual(['all-data'])
    expect(await one.frozen()).toEqual(['data-lost', 1])
  })

  test('that was lost freezes everything once, before a process that dies could leave it unnoticed', async () => {
    const shared = connectTestRedis()
    const [one, other] = [startProcess(shared), startProcess(shared)]
    for (const { check } of [one, other]) await check()
    await shared.redis.del(...(await shared.redis.keys(`${shared.keys.queuePrefix}*`)))
    // Dies before it has told it. The next process finds a new data set, and cannot know of the loss.
    one.failKeeping(1)
    await expect(one.check()).rejects.toThrow('died')

    expect(await startProcess(shared).frozen()).toEqual(['data-lost', 1])
    await other.check()
    expect(await other.frozen()).toEqual(['data-lost', 1])
  })

  const moving = ' Elastic IPs that are moving now, not tracked by Lockkeeper: 203.0.113.10 (eip_1GijF7NsZe3bN), shown on web-1.'
  const none = ' No Elastic IP is moving now.'
  const unread = " Couldn't read which Elastic IPs are moving now. Check the account."

  test.each([
    [
      'with the changes under way of every kind that lists them',
      [underwayOn(async () => []), underwayOn(async () => [onWeb1])],
      none + moving,
    ],
    ['without changes under way if no kind lists them', [], ''],
    ['even if the account API does not answer', [underwayOn(() => Promise.reject(new Error('no answer')))], unread],
  ])('is reported %s', async (_, underway, words) => {
    const { check, posts } = startProcess(connectTestRedis(), { underway })

    await check()

    expect(posts().map((text) => text.split('no longer work.')[1])).toEqual([words])
  })
})

describe('an older state of a data set', () => {
  /** Restores a copy of the audit: the first note is in the copy, and the second one is lost. */
  async function restoreUnder(
    shared: ReturnType<typeof connectTestRedis>,
    one: ReturnType<typeof startProcess>,
    beforeRestore = async () => {},
  ): Promise<void> {
    await one.check()
    await one.note(1)
    const restore = await copyAudit(shared)
    await one.note(1)
    await beforeRestore()
    await restore()
  }

  test('is reported once, with its own sentence', async () => {
    const shared = connectTestRedis()
    const [one, other] = [startProcess(shared), startProcess(shared)]
    await one.check()
    await one.note(2)
    const restore = await copyAudit(shared)
    await one.note(1)
    await one.check()
    await other.check()

    await restore()
    for (const { check } of [one, other, one, other]) await check()

    expect([one.losses, other.losses], 'each process counts the loss once').toEqual([['set-back'], ['set-back']])
    expect(await other.frozen()).toEqual(['set-back', 1])
    await one.freezes.lift({ by: 'U0BEN00001' })
    for (const { check } of [one, other]) await check()
    expect((await other.freezes.read()).record, 'it stays lifted').toMatchObject({ isOn: false, by: 'U0BEN00001' })
    expect([...one.posts().slice(1), ...other.posts()]).toMatchInlineSnapshot(`
      [
        ":rotating_light: *Redis went back to an older state.* Newer decisions may be undone, and newer requests may be gone. Lockkeeper has frozen all changes: none starts until somebody uses the unfreeze command. Find out what happened to Redis: was an older copy restored, or did a replica take over that lagged behind? Before anyone approves an open request, check on the account whether it was already carried out. Elastic IPs that are moving now, perhaps no longer tracked by Lockkeeper: 203.0.113.10 (eip_1GijF7NsZe3bN), shown on web-1.",
      ]
    `)
  })

  test('is what a copy is that is put back after everything was lost', async () => {
    const shared = connectTestRedis()
    const one = startProcess(shared)
    await one.check()
    await one.note(2)
    const restore = await copyAudit(shared)
    await shared.redis.del(shared.keys.audit, shared.keys.auditHead, shared.keys.dataLossMark, shared.keys.freeze)
    for (let checks = 0; checks < 2; checks += 1) await one.check()

    await restore()
    for (let checks = 0; checks < 2; checks += 1) await one.check()

    expect(one.posts().slice(1)).toEqual([
      expect.stringContaining("Redis lost Lockkeeper's data"),
      expect.stringContaining('Redis went back'),
    ])
    expect(one.losses).toEqual(['all-data', 'set-back'])
    expect((await one.frozen())[0]).toBe('set-back')
  })

  test('updates the messages of open requests, which may show a decision that is undone', async () => {
    const shared = connectTestRedis()
    const one = startProcess(shared)
    const { id } = await recordRequest(one.app.store)
    await deliver(one.app, id, 'card')
    await restoreUnder(shared, one)
    const isOwed = async () => (await shared.redis.zscore(shared.keys.outbox, `${id}/card`)) !== null
    expect(await isOwed(), 'before the loss is noticed').toBe(false)

    await one.check()

    expect(await isOwed()).toBe(true)
  })

  test('stays unfrozen if a process notices it after somebody lifted the freeze', async () => {
    const shared = connectTestRedis()
    const [one, other] = [startProcess(shared), startProcess(shared)]
    await restoreUnder(shared, one, () => other.check())
    await one.check()
    await one.freezes.lift({ by: 'U0BEN00001' })

    await other.check()

    expect(await other.frozen()).toEqual([undefined, 1])
  })

  test('is noted again if Redis goes back again while everything is frozen', async () => {
    const shared = connectTestRedis()
    const [one, other] = [startProcess(shared), startProcess(shared)]
    const checkAll = async () => {
      for (const { check } of [one, other, one, other]) await check()
    }
    await checkAll()
    await restoreUnder(shared, one)
    await checkAll()
    expect(await one.frozen()).toEqual(['set-back', 1])

    await restoreUnder(shared, one)
    await checkAll()

    expect(await one.frozen()).toEqual(['set-back', 2])
    const audit = createAudit({ ...shared, print: () => {}, onError: () => {}, ...auditSigning() })
    const losses = await findEntries({ audit }, ({ act }) => act === 'freeze')
    expect(losses.map(({ causes }) => causes?.[0]?.code)).toEqual(['set-back', 'set-back'])
  })

  test('is found by the entries that this process chained, even if as many or more were chained since', async () => {
    for (const since of [0, 1, 3]) {
      const shared = connectTestRedis()
      const one = startProcess(shared)
      await restoreUnder(shared, one)
      await one.note(since)
      await one.check()

      expect(one.posts().slice(1), `${since} since`).toEqual([expect.stringContaining('Redis went back to an older state')])
    }
  })

  test('is found by the entries that another process chained in their place', async () => {
    const shared = connectTestRedis()
    const [one, other] = [startProcess(shared), startProcess(shared)]
    await restoreUnder(shared, one)
    await other.note(1)
    await one.check()

    expect(one.posts().slice(1)).toEqual([expect.stringContaining('Redis went back to an older state')])
  })

  test.each([
    [2, 0],
    [2, 1],
    [2, 2],
    [2, 3],
    [5, 40],
  ])('is found once by the process that wrote the %i entries that are gone, although another one wrote %i since', async (gone, since) => {
    for (const first of ['check', 'note'] as const) {
      const shared = connectTestRedis()
      const [one, other] = [startProcess(shared), startProcess(shared)]
      for (const { check } of [one, other]) await check()
      await one.note(10)
      await other.check()
      // What the append-only file has when the machine of Redis loses power, or what the replica has that takes over.
      const restore = await copyAudit(shared)
      await one.note(gone)
      await restore()

      await other.note(since)
      await other.check()
      await (first === 'check' ? one.check() : one.note(1))
      for (const { check } of [one, other, one, other]) await check()

      expect([one.losses, other.losses], first).toEqual([['set-back'], []])
      expect(await other.frozen(), first).toEqual(['set-back', 1])
    }
  })

  test('is found although the clock of the Redis that took over is behind, so that entries since then have older ids', async () => {
    const shared = connectTestRedis()
    const [one, other] = [startProcess(shared), startProcess(shared)]
    for (const { check } of [one, other]) await check()
    await one.note(2)
    const restore = await copyAudit(shared)
    await one.note(1)
    const [[id = ''] = []] = await shared.redis.xrevrange(shared.keys.audit, '+', '-', 'COUNT', 1)
    await restore()
    await other.note(2)
    // As if the others had been written by that clock.
    const entries = await shared.redis.xrange(shared.keys.audit, '-', '+')
    await shared.redis.del(shared.keys.audit)
    for (const [index, [, fields]] of entries.entries())
      await shared.redis.xadd(shared.keys.audit, `${parseInt(id, 10) - 100 + index}-0`, ...fields)

    await one.check()

    expect(one.losses).toEqual(['set-back'])
  })

  test('is not reported because old entries were removed', async () => {
    const shared = connectTestRedis()
    const one = startProcess(shared)
    await one.check()
    await one.note(3)
    await one.check()

    await shared.redis.xtrim(shared.keys.audit, 'MAXLEN', 0)
    await one.check()
    await one.note(1)
    await one.check()

    expect(one.posts()).toHaveLength(1)
  })
})
