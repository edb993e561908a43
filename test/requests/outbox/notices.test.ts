import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { isNoticeOwed, keepNotice, notifyOperators } from '../../../src/outbox/notices.ts'
import { sweepOutbox } from '../../../src/outbox/outbox.ts'
import { mrkdwn } from '../../../src/slack/text.ts'
import type { Posted } from '../../../src/slack/web-api.ts'
import { connectLossyRedis, connectTestRedis } from '../redis-for-test.ts'
import { lost, outboxApp, sent } from './outbox-app.ts'

const alarm = mrkdwn`Look at this.`
const code = 'redis-unsafe'

type Shared = ReturnType<typeof connectTestRedis>

/** A process that notifies the operators, and whose worker sends what others have left. */
function notifier(shared: Pick<Shared, 'redis' | 'keys'>, posts: Posted[] = [sent], more: Parameters<typeof outboxApp>[1] = {}) {
  const process = outboxApp(shared, { posts, ...more })
  const notify = (about?: string) => notifyOperators(process.app, code, alarm, about === undefined ? {} : { about })
  const untilPosts = (count: number) => expect.poll(() => process.postedAt.length).toBe(count)
  const sweep = () => sweepOutbox(process.app, () => {})
  return { ...process, notify, untilPosts, sweep }
}

/** Leaves a notice as a process does that dies in the middle of its post, some time ago. */
async function leave(shared: Shared, about: string): Promise<void> {
  const dead = notifier(shared, [lost], { waitsMs: [] })
  await dead.notify(about)
  await dead.untilPosts(1)
  await expect
    .poll(async () => JSON.parse((await shared.redis.hget(shared.keys.message(`${code}:${about}`), 'outbox:notice')) ?? '{}').status)
    .toBe('unsure')
  await shared.redis.zadd(shared.keys.outbox, 1, `${code}:${about}/notice`)
}

const isOwed = async ({ redis, keys }: Shared) => (await redis.zcard(keys.outbox)) > 0

describe('the operators', () => {
  test('read in a notice which error it is and where it is explained, and the line of the log has the code', async () => {
    const one = notifier(connectTestRedis())

    await notifyOperators(one.app, 'record-not-genuine', alarm, { requestId: 'b7e2', about: 'record-changed:b7e2' })
    await one.untilPosts(1)

    expect(one.texts).toEqual(['Look at this. More: `record-not-genuine` in docs/alerts-and-errors.md.'])
    expect(one.fields).toEqual([{ code: 'record-not-genuine', requestId: 'b7e2' }])
  })

  test('are notified once by all processes, and again if the same error is about something else', async () => {
    const shared = connectTestRedis()
    const [one, other] = [notifier(shared), notifier(shared)]

    for (const about of ['401', '401', '403']) {
      await one.notify(about)
      await expect.poll(() => isOwed(shared)).toBe(false)
    }
    await other.notify('401')
    await sleep(60)

    expect([one.postedAt.length, other.postedAt.length]).toEqual([2, 0])
    expect(other.log).toEqual(['error: Look at this.'])
    expect(await shared.redis.pttl(shared.keys.message(`${code}:401`))).toBeGreaterThan(3_500_000)
  })

  test('get nothing without a channel but the line in the log', async () => {
    const shared = connectTestRedis()
    const one = notifier(shared, [sent], { opsChannel: null })

    await one.notify()

    expect([one.log, await isOwed(shared)]).toEqual([['error: Look at this.'], false])
  })
})

describe('a notice', () => {
  test.for<Posted>([lost, { is: 'refused', error: 'not_in_channel' }, { is: 'rate-limited', retryInMs: 10 }])(
    'is posted again by its process after %j',
    async (failure) => {
      const shared = connectTestRedis()
      const one = notifier(shared, [failure, failure, sent])

      await one.notify()

      await one.untilPosts(3)
      await expect.poll(() => isOwed(shared)).toBe(false)
      expect(one.errors).toHaveLength(2)
      expect(one.errors[0]).toBe(`operators: could not notify the operators' channel yet: ${JSON.stringify(failure)}`)
    },
  )

  test('is owed once Redis has it, before Slack has answered', async () => {
    const shared = connectTestRedis()
    const one = notifier(shared, [lost], { waitsMs: [] })

    await one.notify()

    expect(await isOwed(shared)).toBe(true)
  })

  test('is posted by one process if two fail at first', async () => {
    const shared = connectTestRedis()
    const both = [30, 50].map((ms) => notifier(shared, [lost, sent], { waitsMs: [ms, 20, 20, 20, 20] }))

    await Promise.all(both.map(({ notify }) => notify()))

    await expect.poll(() => isOwed(shared)).toBe(false)
    await sleep(100)
    expect(both.flatMap(({ postedAt }) => postedAt).length).toBeLessThanOrEqual(3)
  })

  test('is posted if an answer of Redis is lost, and not again', async () => {
    const shared = connectTestRedis()
    const { redis, proxy } = await connectLossyRedis('prompt')
    const one = notifier({ redis, keys: shared.keys })

    proxy.loseNextReply()
    await one.notify()
    await one.untilPosts(1)

    await sleep(60)
    expect([proxy.fired.lostReplies, one.postedAt.length]).toEqual([1, 1])
  })

  test('is posted by its process while Redis is away, and searched for if Slack may have it', async () => {
    const shared = connectTestRedis()
    shared.redis.disconnect()
    const one = notifier(shared, [lost, sent])

    await one.notify()

    await one.untilPosts(2)
    expect(one.found).toMatchObject([{ channelId: 'C0NIGHT001', key: 'notice/redis-unsafe' }])
  })

  test('is left to workers by a process that has stopped, or has tried for long', async () => {
    const shared = connectTestRedis()
    const stopped = notifier(shared, [lost])
    await stopped.notify()
    stopped.app.notices.stop()
    await sleep(60)
    expect(stopped.postedAt).toHaveLength(1)

    expect(await isOwed(shared)).toBe(true)
  })
})

describe('a notice of a process that died', () => {
  test('is posted by a worker, once', async () => {
    const shared = connectTestRedis()
    await leave(shared, 'x')
    const next = notifier(shared)

    await next.sweep()
    await next.sweep()

    expect(next.texts).toEqual(['Look at this. More: `redis-unsafe` in docs/alerts-and-errors.md.'])
    expect(next.found).toMatchObject([{ key: 'notice/redis-unsafe:x' }])
    expect(await isOwed(shared)).toBe(false)
  })

  test('is not posted again if Slack has it', async () => {
    const shared = connectTestRedis()
    await leave(shared, 'x')
    const next = notifier(shared, [sent], { searches: [{ is: 'found', ts: '1.1' }] })

    await next.sweep()

    expect([next.postedAt.length, await isOwed(shared)]).toEqual([0, false])
  })

  test('says that it may be a repeat if Slack allows no search', async () => {
    const shared = connectTestRedis()
    await leave(shared, 'x')
    const next = notifier(shared, [sent], { searches: [{ is: 'cannot-search' }] })

    await next.sweep()

    expect(next.texts).toEqual([expect.stringMatching(/^Look at this\..*\nPossible duplicate: Slack didn't confirm the first one\.$/)])
  })

  test('waits for one that kept it while it reads the account, and has its words', async () => {
    const shared = connectTestRedis()
    const [one, next] = [notifier(shared), notifier(shared)]
    await keepNotice(one.app, code, mrkdwn`Half.`, { about: 'x' })

    await next.sweep()
    expect(next.postedAt).toEqual([])
    await one.notify('x')
    await one.untilPosts(1)

    expect(one.texts).toEqual([expect.stringMatching(/^Look at this\./)])
    expect(await isNoticeOwed(next.app, code, 'x')).toBe(false)
  })

  test('is told before the next one about the same, unless Slack is away', async () => {
    const shared = connectTestRedis()
    await leave(shared, 'x')

    expect(await isNoticeOwed(notifier(shared, [lost]).app, code, 'x')).toBe(true)
    const next = notifier(shared)
    expect(await isNoticeOwed(next.app, code, 'x')).toBe(false)

    expect(next.postedAt).toHaveLength(1)
  })
})

test('what Lockkeeper did not write is dropped', async () => {
  const shared = connectTestRedis()
  const { redis, keys } = shared
  await redis.hset(keys.message('x'), 'facts', '{"channelId":7}')
  await redis.zadd(keys.outbox, 1, 'x/notice')
  const one = notifier(shared)

  await one.sweep()

  expect([one.postedAt.length, await isOwed(shared), await redis.exists(keys.message('x'))]).toEqual([0, false, 0])
})
