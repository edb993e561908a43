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

/** A process that tells, and what Slack answers to its posts, one after the other; the last answer is repeated. */
function teller({ redis, keys }: { redis: Redis; keys: Keys }, answers: Posted[], waitsMs = [20, 20, 20]) {
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
    log: (text) => log.push(text),
    onError: (error) => log.push(String(error)),
    waitsMs,
  })
  onTestFinished(operators.stop)
  return { ...operators, posts, log }
}

describe('the operators', () => {
  test('are told once, whoever meets the same trouble', async () => {
    const shared = connectTestRedis()
    const [one, other] = [teller(shared, [sent]), teller(shared, [sent])]

    await one.notify('trouble', alarm)
    await one.notify('trouble', alarm)
    await other.notify('trouble', alarm)
    await sleep(60)

    expect([one.posts.length, other.posts.length]).toEqual([1, 0])
    expect(other.log).toEqual(['Look at this.'])
    expect(await shared.redis.pttl(shared.keys.notice('trouble'))).toBeGreaterThan(3_500_000)
  })

  test.for<Posted>([lost, { is: 'refused', error: 'not_in_channel' }])('are told at the next try after %j', async (failure) => {
    const one = teller(connectTestRedis(), [failure, failure, sent])

    await one.notify('trouble', alarm)
    expect(one.posts).toHaveLength(1)

    await expect.poll(() => one.posts.length).toBe(3)
    await sleep(60)
    expect(one.posts).toHaveLength(3)
    expect(one.log).toEqual(['Look at this.', `Error: the channel of operators could not be told yet: ${JSON.stringify(failure)}`])
  })

  test('are told when Slack takes it again, not before', async () => {
    const one = teller(connectTestRedis(), [{ is: 'rate-limited', retryInMs: 300 }, sent])

    await one.notify('trouble', alarm)
    await expect.poll(() => one.posts.length).toBe(2)

    expect((one.posts[1] ?? 0) - (one.posts[0] ?? 0)).toBeGreaterThanOrEqual(295)
  })

  test('are told by another process, when the one that was at it failed or ended', async () => {
    const shared = connectTestRedis()
    const failing = teller(shared, [lost], [60_000])
    await failing.notify('trouble', alarm)
    const other = teller(shared, [sent])
    await other.notify('trouble', alarm)
    expect(other.posts).toHaveLength(1)

    await shared.redis.set(shared.keys.notice('more'), 'token of one that ended', 'PX', 50)
    await other.notify('more', alarm)
    expect(other.posts).toHaveLength(1)
    await expect.poll(() => other.posts.length).toBe(2)
  })

  test('are told in the end by one process, where two fail at first', async () => {
    const shared = connectTestRedis()
    const tellers = [teller(shared, [lost, sent], [20, 20, 20, 20, 20]), teller(shared, [lost, sent], [50, 20, 20, 20, 20])]

    await Promise.all(tellers.map(({ notify }) => notify('trouble', alarm)))

    await expect.poll(() => shared.redis.get(shared.keys.notice('trouble'))).toBe('told')
    const posts = () => tellers.flatMap((each) => each.posts).length
    const before = posts()
    await sleep(150)
    expect(posts()).toBe(before)
  })

  test('are told where the answer of Redis was lost', async () => {
    const { keys } = connectTestRedis()
    const { redis, proxy } = await connectLossyRedis('prompt')
    const one = teller({ redis, keys }, [sent], [])

    proxy.loseNextReply()
    await one.notify('trouble', alarm)

    expect(proxy.fired.lostReplies).toBe(1)
    expect(one.posts).toHaveLength(1)
  })

  test('are told while Redis is away', async () => {
    const { redis, keys } = connectTestRedis()
    redis.disconnect()
    const one = teller({ redis, keys }, [lost, sent])

    await one.notify('trouble', alarm)

    await expect.poll(() => one.posts.length).toBe(2)
  })

  test('are not tried for ever: the log says so', async () => {
    const shared = connectTestRedis()
    const one = teller(shared, [lost], [10, 10])

    await one.notify('trouble', alarm)

    await expect.poll(() => one.log.at(-1)).toMatch(/I give it up: .*503/)
    await sleep(50)
    expect(one.posts).toHaveLength(3)
    expect(one.log).toHaveLength(3)
    expect(await shared.redis.exists(shared.keys.notice('trouble'))).toBe(0)
    // The next one who meets it begins anew.
    await one.notify('trouble', alarm)
    expect(one.posts).toHaveLength(4)
  })

  test('are not tried again by a process that stops', async () => {
    const one = teller(connectTestRedis(), [lost])

    await one.notify('trouble', alarm)
    one.stop()
    await sleep(60)

    expect(one.posts).toHaveLength(1)
  })
})
