import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Keys } from '../../../src/redis/key-names.ts'
import { createNotifyOperators } from '../../../src/requests/outbox/notify-operators.ts'
import { notice } from '../../../src/slack/blocks/notice.ts'
import { mrkdwn } from '../../../src/slack/text/text.ts'
import type { Posted } from '../../../src/slack/web-api/messenger.ts'
import { connectLossyRedis, connectTestRedis } from '../redis-for-test.ts'

const alarm = notice(mrkdwn`Look at this.`)
const sent: Posted = { is: 'sent', ts: '1.1', channelId: 'C1' }
const lost: Posted = { is: 'unknown', problem: 'HTTP status 503' }

/** A process that notifies the operators. `answers`: what Slack answers to its posts in turn; the last one is repeated. */
function notifier({ redis, keys }: { redis: Redis; keys: Keys }, answers: Posted[], waitsMs = [20, 20, 20]) {
  const posts: number[] = []
  const log: string[] = []
  const messenger = {
    post: async () => {
      posts.push(performance.now())
      return answers[Math.min(posts.length, answers.length) - 1] ?? sent
    },
  }
  const operators = createNotifyOperators({
    redis,
    keys,
    messenger,
    channelId: 'C1',
    log: { warn: (text: string) => log.push(`warn: ${text}`), error: (text: string) => log.push(text) },
    onError: (error) => log.push(String(error)),
    waitsMs,
  })
  onTestFinished(operators.stop)
  return { ...operators, posts, log }
}

describe('the operators', () => {
  test('are notified once if several processes have the same problem', async () => {
    const shared = connectTestRedis()
    const [one, other] = [notifier(shared, [sent]), notifier(shared, [sent])]

    await one.notify('problem', alarm)
    await one.notify('problem', alarm)
    await other.notify('problem', alarm)
    await sleep(60)

    expect([one.posts.length, other.posts.length]).toEqual([1, 0])
    expect(other.log).toEqual(['Look at this.'])
    expect(await shared.redis.pttl(shared.keys.notice('problem'))).toBeGreaterThan(3_500_000)
  })

  test.for<Posted>([lost, { is: 'refused', error: 'not_in_channel' }])('are notified at the next try after %j', async (failure) => {
    const one = notifier(connectTestRedis(), [failure, failure, sent])

    await one.notify('problem', alarm)
    expect(one.posts).toHaveLength(1)

    await expect.poll(() => one.posts.length).toBe(3)
    await sleep(60)
    expect(one.posts).toHaveLength(3)
    expect(one.log).toEqual(['Look at this.', `Error: could not notify the operators' channel yet: ${JSON.stringify(failure)}`])
  })

  test('are notified after the wait that Slack asks for', async () => {
    const one = notifier(connectTestRedis(), [{ is: 'rate-limited', retryInMs: 300 }, sent])

    await one.notify('problem', alarm)
    await expect.poll(() => one.posts.length).toBe(2)

    expect((one.posts[1] ?? 0) - (one.posts[0] ?? 0)).toBeGreaterThanOrEqual(295)
  })

  test('are notified by another process if the first one failed or died', async () => {
    const shared = connectTestRedis()
    const failing = notifier(shared, [lost], [60_000])
    await failing.notify('problem', alarm)
    const other = notifier(shared, [sent])
    await other.notify('problem', alarm)
    expect(other.posts).toHaveLength(1)

    await shared.redis.set(shared.keys.notice('more'), 'token of a dead process', 'PX', 50)
    await other.notify('more', alarm)
    expect(other.posts).toHaveLength(1)
    await expect.poll(() => other.posts.length).toBe(2)
  })

  test('are notified by one process if two fail at first', async () => {
    const shared = connectTestRedis()
    const notifiers = [notifier(shared, [lost, sent], [20, 20, 20, 20, 20]), notifier(shared, [lost, sent], [50, 20, 20, 20, 20])]

    await Promise.all(notifiers.map(({ notify }) => notify('problem', alarm)))

    await expect.poll(() => shared.redis.get(shared.keys.notice('problem'))).toBe('notified')
    const posts = () => notifiers.flatMap((each) => each.posts).length
    const before = posts()
    await sleep(150)
    expect(posts()).toBe(before)
  })

  test('are notified if an answer of Redis is lost', async () => {
    const { keys } = connectTestRedis()
    const { redis, proxy } = await connectLossyRedis('prompt')
    const one = notifier({ redis, keys }, [sent], [])

    proxy.loseNextReply()
    await one.notify('problem', alarm)

    expect(proxy.fired.lostReplies).toBe(1)
    expect(one.posts).toHaveLength(1)
  })

  test('are notified while Redis is away', async () => {
    const { redis, keys } = connectTestRedis()
    redis.disconnect()
    const one = notifier({ redis, keys }, [lost, sent])

    await one.notify('problem', alarm)

    await expect.poll(() => one.posts.length).toBe(2)
  })

  test('are not notified after the last try, and the log says so', async () => {
    const shared = connectTestRedis()
    const one = notifier(shared, [lost], [10, 10])

    await one.notify('problem', alarm)

    await expect.poll(() => one.log.at(-1)).toMatch(/stopped trying: .*503/)
    await sleep(50)
    expect(one.posts).toHaveLength(3)
    expect(one.log).toHaveLength(3)
    expect(await shared.redis.exists(shared.keys.notice('problem'))).toBe(0)
    // The next occurrence starts again.
    await one.notify('problem', alarm)
    expect(one.posts).toHaveLength(4)
  })

  test('are not notified by a process that has stopped', async () => {
    const one = notifier(connectTestRedis(), [lost])

    await one.notify('problem', alarm)
    one.stop()
    await sleep(60)

    expect(one.posts).toHaveLength(1)
  })
})
