import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { isNoticeOwed, keepNotice, notifyOperators } from '../../src/outbox/notices.ts'
import { sweepOutbox } from '../../src/outbox/outbox.ts'
import { mrkdwn } from '../../src/slack/text.ts'
import type { Posted } from '../../src/slack/web-api.ts'
import { lost, outboxApp, sent } from '../given/outbox-app.ts'
import { connectLossyRedis, connectTestRedis } from '../given/redis.ts'

const alarm = mrkdwn`Look at this.`
const code = 'redis-unsafe'

type Shared = ReturnType<typeof connectTestRedis>

/** A process that notifies the operators, and whose worker sends what is left. */
function notifier(shared: Pick<Shared, 'redis' | 'keys'>, posts: Posted[] = [sent], more: Parameters<typeof outboxApp>[1] = {}) {
  const process = outboxApp(shared, { posts, ...more })

  /** Resolves after the first try. */
  async function notify(about?: string): Promise<void> {
    await notifyOperators(process.app, code, alarm, { about })
    await process.settle()
  }
  return { ...process, notify }
}

/** Leaves a notice as a process does that dies in the middle of its post. */
const leave = (shared: Shared, about: string) => notifier(shared, [lost]).notify(about)

const isOwed = async ({ redis, keys }: Shared) => (await redis.zrange(keys.outbox, '0', '-1')).some((member) => member.endsWith('/notice'))

describe('the operators', () => {
  test('read in a notice which error it is and where it is explained, and the line of the log has the code', async () => {
    const one = notifier(connectTestRedis())

    await notifyOperators(one.app, 'record-changed', alarm, { requestId: 'b7e2', about: 'record-changed:b7e2' })
    await one.settle()

    expect(one.texts).toEqual([
      'Look at this. More: <https://github.com/lockkeeper-org/lockkeeper/blob/main/docs/errors.md#record-changed|record-changed>.',
    ])
    expect(one.fields).toEqual([{ code: 'record-changed', requestId: 'b7e2' }])
  })

  test('are notified once by all processes, and again if the same error is about something else', async () => {
    const shared = connectTestRedis()
    const [one, other] = [notifier(shared), notifier(shared)]

    for (const about of ['401', '401', '403']) await one.notify(about)
    await other.notify('401')

    expect([one.texts.length, other.texts.length]).toEqual([2, 0])
    expect(other.log).toEqual(['error: Look at this.'])
    const rememberedMs = await shared.redis.pttl(shared.keys.message(`${code}:401`))
    expect(rememberedMs).toBeGreaterThan(3_500_000)
    expect(rememberedMs).toBeLessThanOrEqual(3_600_000)
    // A repeat within a minute costs Redis nothing.
    await shared.redis.del(shared.keys.message(`${code}:401`))
    await one.notify('401')
    expect(one.texts).toHaveLength(2)
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
    'is posted again by a worker after %j',
    async (failure) => {
      const shared = connectTestRedis()
      const one = notifier(shared, [failure, failure, sent])

      await one.notify()
      for (let time = 0; time < 3; time += 1) await one.sweep()

      expect([one.texts.length, await isOwed(shared)]).toEqual([3, false])
      const refusals = failure.is === 'refused' ? 2 : 0
      expect(one.errors).toEqual(Array(refusals).fill('operators'))
      const line = 'error: Slack refused a notice in OPS_CHANNEL (not_in_channel). It is tried again'
      expect(one.log).toEqual(['error: Look at this.', ...(refusals > 0 ? [line] : [])])
    },
  )

  test('is owed once Redis has it, before Slack has answered', async () => {
    const shared = connectTestRedis()
    const one = notifier(shared, [lost])

    await notifyOperators(one.app, code, alarm)

    expect(await isOwed(shared)).toBe(true)
  })

  test('is posted if an answer of Redis is lost, and not again', async () => {
    const shared = connectTestRedis()
    const { redis, proxy } = await connectLossyRedis('prompt')
    const one = notifier({ redis, keys: shared.keys })

    proxy.loseNextReply()
    await one.notify()
    await notifier(shared).sweep()

    expect([proxy.fired.lostReplies, one.texts.length]).toEqual([1, 1])
  })

  test('is posted by its process while Redis is away, again and again, and searched for if Slack may have it', async () => {
    const shared = connectTestRedis()
    shared.redis.disconnect()
    const one = notifier(shared, [lost, sent])
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())

    await notifyOperators(one.app, code, alarm)
    await vi.advanceTimersByTimeAsync(5_000)

    expect(one.texts).toHaveLength(2)
    expect(one.found).toMatchObject([{ channelId: 'C0NIGHT001', key: 'notice/redis-unsafe' }])
  })

  test('is searched for by its process when a slow Slack shows it, while Redis is away', async () => {
    const shared = connectTestRedis()
    shared.redis.disconnect()
    const one = notifier(shared, [{ is: 'timed-out', problem: 'no answer' }], { searches: [{ is: 'found', ts: '1.1', all: ['1.1'] }] })
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())

    await notifyOperators(one.app, code, alarm)
    await vi.advanceTimersByTimeAsync(25_000)
    expect(one.found).toEqual([])
    await vi.advanceTimersByTimeAsync(10_000)

    expect([one.texts.length, one.found.length]).toEqual([1, 1])
  })
})

describe('a notice of a process that died', () => {
  test('is posted by a worker, once', async () => {
    const shared = connectTestRedis()
    await leave(shared, 'x')
    const next = notifier(shared)

    for (let time = 0; time < 2; time += 1) await next.sweep()

    expect(next.texts).toEqual([
      'Look at this. More: <https://github.com/lockkeeper-org/lockkeeper/blob/main/docs/errors.md#redis-unsafe|redis-unsafe>.',
    ])
    expect(next.found).toMatchObject([{ key: 'notice/redis-unsafe:x' }, { key: 'notice/redis-unsafe:x', wantsAll: true }])
    expect(await isOwed(shared)).toBe(false)
  })

  test('is not posted again if Slack has it', async () => {
    const shared = connectTestRedis()
    await leave(shared, 'x')
    const next = notifier(shared, [sent], { searches: [{ is: 'found', ts: '1.1', all: ['1.1'] }] })

    await next.sweep()

    expect([next.texts.length, await isOwed(shared)]).toEqual([0, false])
  })

  test('says that it may be a repeat if Slack allows no search', async () => {
    const shared = connectTestRedis()
    await leave(shared, 'x')
    const next = notifier(shared, [sent], { searches: [{ is: 'cannot-search' }] })

    await next.sweep()

    expect(next.texts).toEqual([expect.stringMatching(/^Look at this\..*\nPossible duplicate: Slack didn't confirm the first one\.$/)])
  })

  test('waits while that process may read the account, which then says more', async () => {
    const shared = connectTestRedis()
    const [one, next] = [notifier(shared), notifier(shared)]
    await keepNotice(one.app, code, mrkdwn`Half.`, { about: 'x' })

    await sweepOutbox(next.app, () => {})
    await one.notify('x')

    expect([...next.texts, ...one.texts]).toEqual([expect.stringMatching(/^Look at this\./)])
    expect(await isNoticeOwed(next.app, code, 'x')).toBe(false)
  })

  test('is told before the next one about the same, unless Slack is away', async () => {
    const shared = connectTestRedis()
    await leave(shared, 'x')

    expect(await isNoticeOwed(notifier(shared, [lost]).app, code, 'x')).toBe(true)
    const next = notifier(shared)
    expect(await isNoticeOwed(next.app, code, 'x')).toBe(false)

    expect(next.texts).toHaveLength(1)
  })
})

test.each([
  ['is no notice', 'x/notice', { channelId: 7 }],
  ['is for another channel than those of alerts', 'x/alerts', { words: 'Send your password.', channelId: 'C0GENERAL1' }],
])('what Lockkeeper did not write is dropped: it %s', async (_, member, facts) => {
  const shared = connectTestRedis()
  const { redis, keys } = shared
  await redis.hset(keys.message('x'), 'facts', JSON.stringify(facts))
  await redis.zadd(keys.outbox, 1, member)
  const one = notifier(shared)

  await one.sweep()

  expect([one.texts.length, await isOwed(shared), await redis.exists(keys.message('x'))]).toEqual([0, false, 0])
})
